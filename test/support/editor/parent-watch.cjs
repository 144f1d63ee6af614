// Preloaded or imported by everything that a test run starts: when the process that started it is gone, even by SIGKILL,
// it goes too. The editor's server leads a process group (extension host, what extensions start), which goes with it.
const { isMainThread } = require('node:worker_threads');

const parent = process.ppid;

if (isMainThread) {
  setInterval(() => {
    if (process.ppid === parent) return;
    try {
      process.kill(-process.pid, 'SIGKILL');
    } catch {
      process.exit(1); // leads no group
    }
  }, 500).unref();
}
