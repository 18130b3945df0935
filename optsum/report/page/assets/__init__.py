"""Assets of the page: a template, styles and scripts, which `optsum.report.page.write` puts into one file."""
