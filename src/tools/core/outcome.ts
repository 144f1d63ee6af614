import { failedToolOutcome, type ToolOutcome } from '../../protocol/content/tools.ts';
import { shortenText } from '../../protocol/text/shorten.ts';
import { ResultWithImages, selectSendableImages } from './imageFiles.ts';
import { ToolError } from './tool.ts';

export const maxOutcomeBytes = 64 * 1024;

export function toSuccessOutcome(given: unknown): Extract<ToolOutcome, { ok: true }> {
  if (!(given instanceof ResultWithImages)) return { ok: true, data: given ?? null };
  return { ok: true, data: given.data, attachments: [...given.images] };
}

export function toFailureOutcome(thrown: unknown, signal: AbortSignal): Extract<ToolOutcome, { ok: false }> {
  if (thrown instanceof ToolError) return failedToolOutcome(thrown.code, thrown.message, thrown.details);
  if (signal.aborted && (thrown === signal.reason || nameOf(thrown) === 'AbortError'))
    return failedToolOutcome('TOOL_INTERRUPTED', 'Stopped while it ran.');
  return failedToolOutcome('TOOL_EXEC_FAILED', messageOf(thrown));
}

/**
 * Limits the outcome to plain JSON data within `maxOutcomeBytes`. Tools shorten their own results; this function truncates the longest texts
 * and lists of the rest, and `cut` reports the truncation. `leftOut` names omitted images.
 */
export function limitOutcomeSize(outcome: ToolOutcome): ToolOutcome {
  if (!outcome.ok || !outcome.attachments) return boundedData(outcome);
  const { attachments, leftOut } = selectSendableImages(outcome.attachments);
  const bounded = boundedData({
    ok: true,
    data: leftOut.length > 0 ? withMore(outcome.data, { leftOut }) : outcome.data,
  });
  return bounded.ok && attachments.length > 0 ? { ...bounded, attachments } : bounded;
}

function boundedData(outcome: ToolOutcome): ToolOutcome {
  let json: string;
  try {
    json = JSON.stringify(outcome);
  } catch {
    return outcome.ok
      ? failedToolOutcome('TOOL_EXEC_FAILED', 'The tool gave something that cannot be written down as JSON.')
      : { ok: false, error: { code: outcome.error.code, message: outcome.error.message.slice(0, 4000) } };
  }
  const plain = JSON.parse(json) as ToolOutcome;
  const size = Buffer.byteLength(json);
  if (size <= maxOutcomeBytes) return plain;
  for (let limit = 32_000; limit >= 16; limit = Math.floor(limit / 2)) {
    const shorter = shorten(plain, limit) as ToolOutcome;
    const cut = `Cut from ${size} bytes to what fits; ask for less at a time.`;
    const withNote = shorter.ok ? { ok: true as const, data: withMore(shorter.data, { cut }) } : shorter;
    if (Buffer.byteLength(JSON.stringify(withNote)) <= maxOutcomeBytes) return withNote;
  }
  return failedToolOutcome('TOOL_EXEC_FAILED', `The result is too large (${size} bytes). Ask for less at a time.`);
}

const withMore = (data: unknown, more: object) =>
  typeof data === 'object' && data !== null && !Array.isArray(data) ? { ...data, ...more } : { ...more, value: data };

function shorten(value: unknown, limit: number): unknown {
  if (typeof value === 'string') return shortenText(value, limit, `… (${value.length - limit} characters cut)`);
  if (Array.isArray(value)) return value.slice(0, limit).map((item) => shorten(item, limit));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).slice(0, limit);
    return Object.fromEntries(entries.map(([key, item]) => [key.slice(0, 200), shorten(item, limit)]));
  }
  return value;
}

const nameOf = (thrown: unknown) => (thrown instanceof Error ? thrown.name : '');

function messageOf(thrown: unknown): string {
  try {
    // System messages contain absolute paths, so only the code and the call are reported.
    const { code, syscall } = Object(thrown) as NodeJS.ErrnoException;
    if (typeof code === 'string' && typeof syscall === 'string') return `The system refused it: ${syscall} ${code}.`;
    const message = thrown instanceof Error ? thrown.message : typeof thrown === 'string' ? thrown : '';
    return message.slice(0, 4000) || 'The tool failed without saying why.';
  } catch {
    return 'The tool failed without saying why.';
  }
}
