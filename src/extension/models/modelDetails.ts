import path from 'node:path';
import { type CheckResult, checkInShort, inDay } from '../../check/result.ts';
import type { ChatWrapperName } from '../../llm/local/chatWrappers.ts';
import type { EngineState } from '../../llm/local/engines.ts';
import { type Fit, inGigabytes } from '../../llm/local/fit.ts';
import type { GgufInfo } from '../../llm/local/ggufInfo.ts';
import type { LocalModel } from '../../llm/local/library.ts';
import { type Place, placeInWords } from '../../llm/local/place.ts';
import { visibleLine } from '../../protocol/visible.ts';

export const verdicts: Record<Fit['verdict'], string> = {
  fits: 'fits',
  tight: 'tight',
  'too-large': 'does not fit',
};

interface Facts {
  chatWrapper?: ChatWrapperName;
  gpu?: boolean;
  place?: Place | undefined;
  /** What came of checking it. */
  check?: CheckResult | undefined;
}

/** Everything that is known of a model file before it is loaded, and what it runs on when it is, as Markdown. */
export function modelDetails(
  model: LocalModel,
  fit: Fit,
  engine: EngineState,
  { chatWrapper = 'auto', gpu = true, place, check }: Facts = {},
): string {
  const { info } = model;
  const rows: [string, string | undefined][] = [
    ['Name', info?.name],
    ['Architecture', info?.architecture],
    ['Parameters', info && parametersText(info)],
    ['Quantisation', info?.quantisation],
    [
      'Trained context',
      info?.trainedContext === undefined ? undefined : `${info.trainedContext.toLocaleString('en-US')} tokens`,
    ],
    ['Layers', info?.layers?.toString()],
    ['Licence', info?.licence],
    ['Chat template', info && templateText(info.hasChatTemplate, chatWrapper)],
    ['Size on disk', inGigabytes(model.bytes) + (model.files.length > 1 ? ` in ${model.files.length} files` : '')],
    ['Memory', `${verdicts[fit.verdict]}. ${fit.reason}`],
    [
      'A token',
      info?.bytesPerToken === undefined
        ? undefined
        : `${Math.ceil(info.bytesPerToken / 1000).toLocaleString('en-US')} kB of memory, and as much of the disk while what was read is kept`,
    ],
    ['Context that fits now', fit.contextSize > 0 ? `${fit.contextSize.toLocaleString('en-US')} tokens` : 'none'],
    ['Runs on', engineText(engine, gpu)],
    ['In memory', place && `on ${placeInWords(place)}`],
    ['Checked', check && `${checkInShort(check)}, on ${inDay(check.at)}`],
    ['File', model.path],
  ];
  return [
    `# ${visibleLine(path.basename(model.path))}`,
    '',
    ...(model.trouble ? [`**It cannot be used.** ${model.trouble}`, ''] : []),
    '| | |',
    '|---|---|',
    ...rows.filter(([, value]) => value).map(([name, value]) => `| ${name} | ${cell(value!)} |`),
    '',
    ...(check ? failures(check) : []),
    'Read from the file itself, without loading it. What it needs is an estimate on the safe side; memory of a graphics card is not counted.',
    '',
  ].join('\n');
}

/** What it could not do when it was checked. */
function failures({ tasks }: CheckResult): string[] {
  const failed = tasks.filter(({ passed }) => !passed);
  if (failed.length === 0) return [];
  const rows = failed.map(({ title, why = '' }) => `| ${cell(title)} | ${cell(why)} |`);
  return ['| not done | what went wrong |', '|---|---|', ...rows, ''];
}

/** The first file of a split model counts its own only. */
function parametersText({ sizeLabel, parameters, parts }: GgufInfo): string {
  return [sizeLabel, parts === 1 && parameters.toLocaleString('en-US')].filter(Boolean).join(', ');
}

function templateText(embedded: boolean, chatWrapper: ChatWrapperName): string {
  const own = embedded ? 'embedded template' : 'none: the engine guesses how to talk to it';
  if (chatWrapper === 'auto' || (chatWrapper === 'jinjaTemplate' && embedded)) return own;
  return `${chatWrapper}, as towpath.local.chatWrapper says (in the file: ${embedded ? 'its own' : 'none'})`;
}

/** What runs local models on this machine, in a sentence or two; `wanted`: the setting that allows a GPU. */
export function engineText({ installed, gpu, missing, hardware, advice }: EngineState, wanted = true): string {
  if (missing) return `nothing: ${missing}`;
  if (!wanted) return `the CPU (${installed.join(', ')}), because towpath.local.gpu is off.`;
  const place = gpu.length > 0 ? `${gpu.join(' or ')} where it works, else the CPU` : 'the CPU';
  return [`${place} (${installed.join(', ')}).`, hardware && `Found: ${hardware}`, advice].filter(Boolean).join(' ');
}

const cell = (text: string) => visibleLine(text).replaceAll('|', '\\|');
