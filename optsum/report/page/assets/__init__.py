"""What the page is made of: a template, styles, scripts; `optsum.report.page.write` puts them into one file."""
