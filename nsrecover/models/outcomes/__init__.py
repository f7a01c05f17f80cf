"""Where objects end up after actions whose outcome is no point: pushes in clutter, rolling, toppling, drops."""
