import { type imageTypes, maxImageBase64Length, maxImages } from '../../protocol/content/images.ts';
import type { Attachment } from '../../protocol/content/messages.ts';

export class ResultWithImages {
  constructor(
    readonly data: unknown,
    readonly images: readonly Attachment[],
  ) {}
}

/**
 * Returns the images to send to the model, and a message for each omitted image. Only the bytes decide the type: a wrong media type would
 * make the provider reject every later request of the run with HTTP 400.
 */
export function selectSendableImages(images: readonly Attachment[]): { attachments: Attachment[]; leftOut: string[] } {
  const attachments: Attachment[] = [];
  const leftOut: string[] = [];
  for (const image of images) {
    const { mediaType, data, name = mediaType } = image;
    const bytes = Buffer.from(data.length > maxImageBase64Length ? '' : data, 'base64');
    const type = imageType(bytes);
    if (attachments.length >= maxImages) leftOut.push(`${name}: one result takes at most ${maxImages} pictures.`);
    else if (data.length > maxImageBase64Length) leftOut.push(`${name}: ${imageTooLargeReason}`);
    else if (!type) leftOut.push(`${name}: it is no PNG, JPEG, GIF or WebP picture.`);
    else attachments.push({ mediaType: type, data: bytes.toString('base64'), name: name.slice(0, 200) });
  }
  return { attachments, leftOut };
}

/** Maximum size of an image in bytes; the base64 form stays below `maxImageBase64Length`. */
export const maxImageBytes = 3_700_000;
export const imageTooLargeReason = `it is larger than ${maxImageBytes / 1e6} MB, which is the most that can be shown.`;

/** Detects the media type from the first bytes; undefined for types that models cannot read. */
export function imageType(bytes: Uint8Array): (typeof imageTypes)[number] | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  return /^RIFF.{4}WEBP/s.test(head) ? 'image/webp' : undefined;
}
