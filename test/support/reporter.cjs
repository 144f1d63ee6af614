// Mocha's spec output for people, and its JSON report in the file that `--reporter-option output=…` names: an exit code
// alone cannot tell a clean run from an extension host that crashed. What failed says why at once: a run may be ended before its end.
const { Spec, JSON: Report } = require('mocha').reporters;

const mostCharacters = 2000;

module.exports = class SpecAndReport {
  constructor(runner, options) {
    new Spec(runner, options);
    runner.on('fail', (_test, error) => {
      const why = String(error?.stack ?? error?.message ?? error).slice(0, mostCharacters);
      console.log(why.replace(/^/gm, '      ┊ '));
    });
    if (options.reporterOptions?.output) new Report(runner, options);
  }
};
