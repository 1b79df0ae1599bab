// Sets the chosen theme before the first paint, so that a dark page never flashes white.
(function () {
  try {
    var theme = localStorage.getItem("mxd.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch (_) {
    // Storage can be switched off; the system's theme is then the right one.
  }
})();
