import type { ToolHost } from '../../src/tools/host/host.ts';

/** For a model that is offered nothing and calls nothing. */
export const noTools: ToolHost = {
  standing: async () => ({ changes: [] }),
  edited: async () => [],
  stateOfFiles: async () => undefined,
  recorded: async () => ({}),
  forgetRecorded: () => {},
  holdCommandChanges: async () => () => {},
  canApprove: true,
  prepare: async () => {},
  getVisibleTools: () => [],
  isFree: () => false,
  onlyReads: () => false,
  delegates: () => false,
  executeToolCall: () => Promise.reject(new Error('There are no tools.')),
};
