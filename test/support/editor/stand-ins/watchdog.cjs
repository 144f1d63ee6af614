// In place of `native-watchdog`, which would have to be compiled: ends the extension host when its server is gone.
exports.start = (pid) => {
  setInterval(() => {
    try {
      process.kill(pid, 0);
    } catch {
      setTimeout(() => process.exit(87), 2000).unref();
    }
  }, 1000).unref();
};
