"""What works beside optsum: processes that import what it imports and end when it ends, and threads of native code."""
