import type { Attachment } from '../protocol/messages.ts';
import { isImage } from './files.ts';

/** Tells each sentence once, for as long as its client lives; none is told for `undefined`. */
export function tellOnce(onNote: ((note: string) => void) | undefined): (note: string | undefined) => void {
  const told = new Set<string>();
  return (note) => {
    if (note === undefined || told.has(note)) return;
    told.add(note);
    onNote?.(note);
  };
}

/** What every wire says of a budget that goes nowhere. */
export const budgetIgnored = (model: string) => `${model} has no setting for a thinking budget here; it is ignored.`;

/** Of some sentences, those that this run was not told yet. */
export function oncePerRun(): (run: string | undefined, sentences: readonly string[]) => string[] {
  const told = new Set<string>();
  return (run, sentences) => {
    const news = sentences.filter((sentence) => !told.has(`${run} ${sentence}`));
    if (run !== undefined) for (const sentence of news) told.add(`${run} ${sentence}`);
    return news;
  };
}

/** What a model that reads nothing but text does not get to see. */
export function unseenFiles(model: string, leftOut: readonly Attachment[]): string[] {
  if (leftOut.length === 0) return [];
  if (leftOut.every(isImage)) return [`${model} sees no images, so they are left out.`];
  return [`${model} reads nothing but text; the other files are left out.`];
}
