import type { StoredEvent } from './events.ts';

/** Newest version of the stored format that this code reads. A line of a later version makes its run read-only. */
export const storedRunFormatVersion = 8;

/**
 * Format version that introduced each stored event type; types without a row have version 1. The journal writes the version on the line, so
 * that an older Towpath distinguishes a newer line from a damaged line. A new event type needs a row.
 */
export const eventVersions: Readonly<Partial<Record<StoredEvent['type'], number>>> = {
  'approval-request': 2,
  redo: 2,
  'node-message': 2,
  'interruption-choice': 2,
  'call-arguments': 3,
  'hold-end': 4,
  'command-changes': 5,
  access: 6,
  'task-start': 8,
  'task-message': 8,
  'task-end': 8,
};

export const appendedListFormatVersion = 3;

export const heldRunFormatVersion = 4;

/** Version of questions of MCP servers, whose answers are no outcome of the call. */
export const serverQuestionFormatVersion = 7;

/** Version of events with changes of repositories, which an older Towpath would not undo. */
export const repositoryFormatVersion = 5;
