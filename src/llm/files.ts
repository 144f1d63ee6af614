import type { Attachment } from '../protocol/messages.ts';
import { wellFormed } from './repair.ts';

export const isText = ({ mediaType }: Attachment) => mediaType.startsWith('text/');
export const isImage = ({ mediaType }: Attachment) => mediaType.startsWith('image/');

/** A text file as part of what is said, for the wires that have no files of this kind. */
export function textOfFile({ mediaType, data, name }: Attachment): string {
  return `${wellFormed(name ?? mediaType)}:\n${Buffer.from(data, 'base64').toString('utf8')}`;
}
