// Loaded into each mocha process. Mocha cannot show a value without a prototype: its reporter throws while it reports the
// failed test, and the run waits forever. Such a value is shown as Node shows it.
const { inspect } = require('node:util');
const utils = require('mocha/lib/utils');

const { stringify } = utils;

utils.stringify = (value) => {
  try {
    return stringify(value);
  } catch {
    return inspect(value, { depth: null, sorted: true });
  }
};
