import { linkSync, symlinkSync } from 'node:fs';
import { call } from '../support/scriptedClient.ts';

/** One way in which Towpath writes a file. */
export interface Writing {
  files: Record<string, string | Buffer>;
  /** What the model does; with `undo` the last of it is taken back, and that is the writing. */
  calls: ReturnType<typeof call>[];
  undo?: true;
  /** No file can take its place: it is written in place, and put right from what is kept. */
  inPlace?: true;
  prepare?(at: (name: string) => string): void;
  /** The file that is written, and what it holds before and after; undefined: there is none. */
  file: string;
  before: string | Buffer | undefined;
  after: string | Buffer | undefined;
}

const long = (word: string) => `${word} of many lines\n`.repeat(2000);
/** As long, and quick to compare with another. */
const oneLine = (word: string) => `${`${word} of many words `.repeat(2000)}\n`;
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const latin = Buffer.from('gr\xfcn\n', 'latin1');
const edit = (path: string) => call('fs.edit', { path, edits: [{ oldText: 'old\n', newText: 'new\nmore\n' }] });

export const writings: Record<string, Writing> = {
  'a new file': {
    files: {},
    calls: [call('fs.write', { path: 'a.txt', content: long('new') })],
    file: 'a.txt',
    before: undefined,
    after: long('new'),
  },
  'a new file in new folders': {
    files: {},
    calls: [call('fs.write', { path: 'x/y/a.txt', content: 'new\n' })],
    file: 'x/y/a.txt',
    before: undefined,
    after: 'new\n',
  },
  'a whole text': {
    files: { 'a.txt': long('old') },
    calls: [call('fs.write', { path: 'a.txt', content: 'new\n' })],
    file: 'a.txt',
    before: long('old'),
    after: 'new\n',
  },
  'an edit of line endings of two kinds': {
    files: { 'a.txt': `a\nold\nb\r\n${long('rest')}` },
    calls: [edit('a.txt')],
    file: 'a.txt',
    before: `a\nold\nb\r\n${long('rest')}`,
    after: `a\nnew\nmore\nb\r\n${long('rest')}`,
  },
  'an edit of UTF-16': {
    files: { 'a.txt': utf16(`grün\nold\n${long('rest')}`) },
    calls: [edit('a.txt')],
    file: 'a.txt',
    before: utf16(`grün\nold\n${long('rest')}`),
    after: utf16(`grün\nnew\nmore\n${long('rest')}`),
  },
  'a patch': {
    files: { 'a.txt': `old\n${long('rest')}` },
    calls: [call('fs.apply_patch', { path: 'a.txt', patch: '@@ -1 +1 @@\n-old\n+new\n' })],
    file: 'a.txt',
    before: `old\n${long('rest')}`,
    after: `new\n${long('rest')}`,
  },
  'an edit through a link': {
    files: { 'a.txt': `old\n${long('rest')}` },
    prepare: (at) => symlinkSync('a.txt', at('l.txt')),
    calls: [edit('l.txt')],
    file: 'a.txt',
    before: `old\n${long('rest')}`,
    after: `new\nmore\n${long('rest')}`,
  },
  'an edit of a file with two names': {
    files: { 'a.txt': `old\n${long('rest')}` },
    prepare: (at) => linkSync(at('a.txt'), at('b.txt')),
    calls: [edit('a.txt')],
    file: 'a.txt',
    before: `old\n${long('rest')}`,
    after: `new\nmore\n${long('rest')}`,
  },
  'an edit in place': {
    files: { 'a.txt': `old\n${long('rest')}` },
    calls: [edit('a.txt')],
    inPlace: true,
    file: 'a.txt',
    before: `old\n${long('rest')}`,
    after: `new\nmore\n${long('rest')}`,
  },
  'a shorter text in place': {
    files: { 'a.txt': oneLine('old') },
    calls: [call('fs.write', { path: 'a.txt', content: oneLine('n') })],
    inPlace: true,
    file: 'a.txt',
    before: oneLine('old'),
    after: oneLine('n'),
  },
  'undo of an edit': {
    files: { 'a.txt': `old\n${long('rest')}` },
    calls: [edit('a.txt')],
    undo: true,
    file: 'a.txt',
    before: `new\nmore\n${long('rest')}`,
    after: `old\n${long('rest')}`,
  },
  'undo of an edit of UTF-16': {
    files: { 'a.txt': utf16('old\n') },
    calls: [edit('a.txt')],
    undo: true,
    file: 'a.txt',
    before: utf16('new\nmore\n'),
    after: utf16('old\n'),
  },
  'undo of a deleted text': {
    files: { 'a.txt': utf16(long('old')) },
    calls: [call('fs.delete', { path: 'a.txt' })],
    undo: true,
    file: 'a.txt',
    before: undefined,
    after: utf16(long('old')),
  },
  'undo of a deleted file that is no text': {
    files: { 'a.bin': latin },
    calls: [call('fs.delete', { path: 'a.bin' })],
    undo: true,
    file: 'a.bin',
    before: undefined,
    after: latin,
  },
  'undo of a whole text, in the end': {
    files: { 'a.txt': 'short\n' },
    calls: [call('fs.write', { path: 'a.txt', content: long('new') })],
    undo: true,
    file: 'a.txt',
    before: long('new'),
    after: 'short\n',
  },
};
