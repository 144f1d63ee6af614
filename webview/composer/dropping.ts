import { maxMentions } from '../../src/protocol/content/mentionText.ts';
import type { PanelContext } from '../context.ts';
import { attachImageFiles, filterImageFiles } from './attachedImages.ts';
import { focusComposer } from './draft.ts';

/** Drag types: of the editor's own lists (with Shift), and the standard. */
const lists = ['application/vnd.code.uri-list', 'text/uri-list'];

export function onDrag(event: DragEvent): void {
  if (event.dataTransfer?.types.some((type) => type === 'Files' || lists.includes(type))) event.preventDefault();
}

export function onDrop(context: PanelContext, event: DragEvent): void {
  const images = filterImageFiles(event.dataTransfer?.files);
  const places = images.length > 0 ? [] : placesIn(event.dataTransfer);
  if (images.length + places.length === 0) return;
  event.preventDefault();
  if (images.length > 0) void attachImageFiles(context, images);
  else context.post({ type: 'dropped', places });
  focusComposer();
}

export function onPaste(context: PanelContext, event: ClipboardEvent): void {
  const images = filterImageFiles(event.clipboardData?.files);
  const text = event.clipboardData?.getData('text/plain') ?? '';
  const listed = placesIn(event.clipboardData);
  const places = listed.length > 0 ? listed : pathsIn(text);
  if (images.length + places.length === 0) return;
  event.preventDefault();
  if (images.length > 0) void attachImageFiles(context, images);
  else context.post({ type: 'dropped', places, pasted: text || places.join('\n') });
}

export function insertPastedText(text: string): void {
  focusComposer();
  document.execCommand('insertText', false, text);
}

function placesIn(data: DataTransfer | null): string[] {
  const list = lists.map((type) => data?.getData(type) ?? '').find((text) => text !== '') ?? '';
  const all = list.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  return all.every((line) => /^(?!https?:)[a-z][\w+.-]+:\/\//.test(line)) ? all.slice(0, maxMentions) : [];
}

/** Returns absolute paths or file URIs if each line contains one. */
function pathsIn(text: string): string[] {
  const lines = text.trim().split(/\r?\n/);
  const isPath = (line: string) => line.length < 1000 && /^(file:\/\/|\/[^/\s]|[A-Za-z]:\\)/.test(line);
  return lines.length <= maxMentions && lines.every(isPath) ? lines : [];
}
