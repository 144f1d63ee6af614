import { html, nothing, type TemplateResult } from 'lit-html';
import { imageTypes, maxImageBase64Length, maxImages } from '../../src/protocol/content/images.ts';
import type { Attachment } from '../../src/protocol/content/messages.ts';
import { escapeInvisibleInLine } from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import type { PanelContext } from '../context.ts';
import { savedWebviewState, saveWebviewState } from '../host.ts';
import { icons } from '../icons.ts';

/** Maximum image side in pixels, above which models only cost more. */
const longestSide = 1568;

export const attachedImages = (): readonly Attachment[] => savedWebviewState().images;

export function clearAttachedImages(): void {
  saveWebviewState({ images: [] });
}

function seesImages({ model }: PanelContext): boolean {
  return model.state?.models.find((option) => option.id === model.state?.modelId)?.images !== false;
}

export const filterImageFiles = (files: FileList | undefined | null): File[] =>
  [...(files ?? [])].filter((file) => file.type.startsWith('image/'));

export async function attachImageFiles(context: PanelContext, files: readonly File[]): Promise<void> {
  const problems = new Set<string>();
  if (!seesImages(context))
    problems.add(t('The current model does not accept pictures. Pick another model to send them.'));
  else
    for (const file of files) {
      const image = await readImage(file).catch(() => undefined);
      const images = attachedImages();
      if (!image)
        problems.add(t('{0} cannot be read as a picture, or is too large to send.', escapeInvisibleInLine(file.name)));
      else if (images.length >= maxImages) problems.add(t('A message can have at most {0} pictures.', maxImages));
      else saveWebviewState({ images: [...images, image] });
    }
  context.model.notice = problems.size > 0 ? { level: 'warning', text: [...problems].join(' ') } : null;
  context.refresh();
}

export function attachedImagesStrip(context: PanelContext): TemplateResult | typeof nothing {
  const images = attachedImages();
  if (images.length === 0) return nothing;
  const remove = (image: Attachment) => {
    saveWebviewState({ images: attachedImages().filter(({ data }) => data !== image.data) });
    context.refresh();
  };
  return html`<div class="pictures" data-testid="pictures">${images.map(
    (
      image,
    ) => html`<span class="picked">${picture(image)}<button title=${t('Remove this picture')} aria-label=${t('Remove {0}', nameOf(image))}
      @click=${() => remove(image)}>${icons.close}</button></span>`,
  )}</div>`;
}

export function messageImagesView(attachments: readonly Attachment[] = []): TemplateResult | typeof nothing {
  const images = attachments.filter(({ mediaType }) => mediaType.startsWith('image/'));
  return images.length === 0 ? nothing : html`<div class="pictures">${images.map(picture)}</div>`;
}

export const attachButton = (context: PanelContext): TemplateResult | typeof nothing =>
  seesImages(context)
    ? html`<vscode-button appearance="icon" data-testid="attach" title=${t('Add a picture (or paste or drop one)')} aria-label=${t('Add a picture')}
        @click=${() => choose(context)}>${icons.picture}</vscode-button>`
    : nothing;

function choose(context: PanelContext): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = true;
  input.accept = imageTypes.join(',');
  input.addEventListener('change', () => void attachImageFiles(context, filterImageFiles(input.files)));
  input.click();
}

const nameOf = (image: Attachment) => escapeInvisibleInLine(image.name ?? t('picture'));
const picture = (image: Attachment) => html`<img src=${urlOf(image)} alt=${nameOf(image)} title=${nameOf(image)}>`;

const urls = new Map<string, string>();

/** The content security policy allows only images created by the page. */
function urlOf({ mediaType, data }: Attachment): string {
  let url = urls.get(data);
  if (!url) {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    url = URL.createObjectURL(new Blob([bytes], { type: mediaType }));
    urls.set(data, url);
  }
  return url;
}

/** Returns small images of a supported type unchanged, others redrawn. Undefined: too large even then. */
async function readImage(file: File): Promise<Attachment | undefined> {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, longestSide / Math.max(bitmap.width, bitmap.height));
  const fits = scale === 1 && (imageTypes as readonly string[]).includes(file.type);
  const whole = fits ? await toBase64(file) : undefined;
  const [mediaType, data] =
    whole && whole.length <= maxImageBase64Length
      ? [file.type, whole]
      : ['image/jpeg', await toBase64(await drawn(bitmap, scale))];
  return data.length > maxImageBase64Length ? undefined : { mediaType, data, name: file.name.slice(0, 200) };
}

async function drawn(bitmap: ImageBitmap, scale: number): Promise<Blob> {
  const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale), Math.round(bitmap.height * scale));
  const pen = canvas.getContext('2d')!;
  pen.fillStyle = 'white'; // background of transparent pixels
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: 'image/jpeg', quality: 0.9 });
}

function toBase64(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^.*?,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
