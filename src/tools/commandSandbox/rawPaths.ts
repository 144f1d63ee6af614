import * as paths from 'node:path';

/**
 * Paths with names in any encoding: a text with one character for each byte (latin1), so that a name that is not UTF-8 stays what it is.
 */
export type RawPath = string;

export const toRawPath = (path: string): RawPath => Buffer.from(path, 'utf8').toString('latin1');

/** Returns the text to show and to compare with names. */
export const toText = (path: RawPath): string => Buffer.from(path, 'latin1').toString('utf8');

/** Returns the path for a function of the file system. */
export const toFilePath = (path: RawPath): Buffer => Buffer.from(path, 'latin1');

export const joinRaw = (...parts: readonly RawPath[]): RawPath => paths.posix.join(...parts);
