// Mocha's spec output for people, and its JSON report in the file that `--reporter-option output=…` names: an exit code
// alone cannot tell a clean run from an extension host that crashed.
const { Spec, JSON: Report } = require('mocha').reporters;

module.exports = class SpecAndReport {
  constructor(runner, options) {
    new Spec(runner, options);
    if (options.reporterOptions?.output) new Report(runner, options);
  }
};
