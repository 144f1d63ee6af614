import type { ViewMessage } from '../../protocol/panel/panelMessages.ts';

/** Messages that the page sends without an action of the user. */
const automatic: ReadonlySet<ViewMessage['type']> = new Set([
  'ready',
  'complete',
  'resolve-mention',
  'measure-mention',
  'measure-room',
  'active',
]);

/** Tests for a message that an action of the user sends. */
export const isUserAction = (request: ViewMessage): boolean =>
  request.type === 'list-runs' ? request.query !== undefined : !automatic.has(request.type);
