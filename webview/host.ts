import type { Mention, MentionNotes } from '../src/protocol/content/mention.ts';
import type { Attachment } from '../src/protocol/content/messages.ts';
import type { HostMessage, ViewMessage } from '../src/protocol/panel/panelMessages.ts';

/** Picked mention, valid while its text is in the draft. */
export interface PickedMention extends MentionNotes {
  mention: Mention;
  tokens?: number;
}

/** View state preserved while the view is hidden. `unknown`: mention words that name nothing. */
interface SavedView {
  draft: string;
  images: Attachment[];
  mentions: PickedMention[];
  unknown: string[];
  runId: string;
  reading?: { place: number; below: number } | undefined;
  choosing: [key: string, chosen: { at: number; choices: { chosen: number[]; words: string }[] }][];
}

declare function acquireVsCodeApi(): {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
};

const api = acquireVsCodeApi();

export const postToHost = (message: ViewMessage): void => api.postMessage(message);

const isSaid: Record<HostMessage['type'], true> = {
  state: true,
  run: true,
  'run-part': true,
  runs: true,
  room: true,
  branches: true,
  files: true,
  events: true,
  notice: true,
  'notice-over': true,
  'system-notification': true,
  focus: true,
  draft: true,
  unheard: true,
  'say-unheard': true,
  mention: true,
  change: true,
  completions: true,
  'mention-size': true,
  'mention-resolved': true,
  selection: true,
  pasted: true,
  offers: true,
  'edit-waiting': true,
  look: true,
};

/**
 * Accepts messages only from the host, which sends through the parent page of the same origin: other pages of the window can post messages
 * here. Content is created and validated by the host from the same types, as JSON.
 */
export function receiveFromHost({ data, origin }: MessageEvent<unknown>): HostMessage | undefined {
  if (origin !== window.origin || typeof data !== 'string') return undefined;
  const said: unknown = JSON.parse(data);
  return isFromHost(said) ? said : undefined;
}

const isFromHost = (said: unknown): said is HostMessage =>
  typeof said === 'object' &&
  said !== null &&
  'type' in said &&
  typeof said.type === 'string' &&
  Object.hasOwn(isSaid, said.type);

export function savedWebviewState(): SavedView {
  const saved = (api.getState() ?? {}) as Partial<SavedView>;
  return {
    draft: typeof saved.draft === 'string' ? saved.draft : '',
    images: Array.isArray(saved.images) ? saved.images : [],
    mentions: Array.isArray(saved.mentions) ? saved.mentions : [],
    unknown: Array.isArray(saved.unknown) ? saved.unknown.filter((word) => typeof word === 'string') : [],
    runId: typeof saved.runId === 'string' ? saved.runId : '',
    ...(typeof saved.reading?.place === 'number' &&
      typeof saved.reading.below === 'number' && { reading: saved.reading }),
    choosing: Array.isArray(saved.choosing) ? saved.choosing : [],
  };
}

export const saveWebviewState = (change: Partial<SavedView>): void =>
  api.setState({ ...savedWebviewState(), ...change });
