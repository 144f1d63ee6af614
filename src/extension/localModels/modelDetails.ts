import path from 'node:path';
import { failuresAsMarkdown } from '../../check/report.ts';
import { type CheckResult, formatCheckDate, shortCheckResult } from '../../check/taskResult.ts';
import type { InferenceEngineStatus } from '../../llm/local/engineInstall/engines.ts';
import type { ChatWrapperName } from '../../llm/local/ipc/chatWrappers.ts';
import type { DeviceInfo } from '../../llm/local/ipc/deviceInfo.ts';
import type { GgufInfo } from '../../llm/local/modelFile/ggufInfo.ts';
import type { MemoryFit } from '../../llm/local/modelFile/memoryFit.ts';
import type { LocalModel } from '../../llm/local/modelFile/modelLibrary.ts';
import { byteSizeText } from '../../protocol/text/byteSizes.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { currentLocale, t, withDigitGrouping } from '../../protocol/text/l10n.ts';

const verdicts = {
  fits: 'fits',
  tight: 'tight',
  'too-large': 'does not fit',
} as const satisfies Record<MemoryFit['verdict'], string>;

export const memoryFitLabel = ({ verdict }: MemoryFit): string => t(verdicts[verdict]);

interface Facts {
  chatWrapper?: ChatWrapperName;
  gpu?: boolean;
  device?: DeviceInfo | undefined;
  check?: CheckResult | undefined;
}

/** Returns a Markdown description of a model file, with the device if the model is loaded. */
export function modelDetails(
  model: LocalModel,
  fit: MemoryFit,
  engine: InferenceEngineStatus,
  { chatWrapper = 'auto', gpu = true, device, check }: Facts = {},
): string {
  const { info } = model;
  const tokens = (count: number) => t('{0} tokens', withDigitGrouping(count));
  const rows: [string, string | undefined][] = [
    [t('Name'), info?.name],
    [t('Architecture'), info?.architecture],
    [t('Parameters'), info && parametersText(info)],
    [t('Quantization'), info?.quantisation],
    [t('Trained context'), info?.trainedContext === undefined ? undefined : tokens(info.trainedContext)],
    [t('Layers'), info?.layers?.toString()],
    [t('License'), info?.licence],
    [t('Chat template'), info && templateText(info.hasChatTemplate, chatWrapper)],
    [t('Size on disk'), sizeText(model)],
    [t('Memory'), `${memoryFitLabel(fit)}. ${fit.reason}`],
    [t('Token'), info?.bytesPerToken === undefined ? undefined : tokenText(info.bytesPerToken)],
    [t('Context that fits now'), fit.contextSize > 0 ? tokens(fit.contextSize) : t('none')],
    [t('Runs on'), localEngineText(engine, gpu)],
    [t('In memory'), device && whereText(device)],
    [t('Checked'), check && t('{0}, on {1}', shortCheckResult(check), formatCheckDate(check.at, currentLocale()))],
    [t('File'), model.path],
  ];
  return [
    `# ${escapeInvisibleInLine(path.basename(model.path))}`,
    '',
    ...(model.trouble ? [t('**Cannot be used.** {0}', model.trouble), ''] : []),
    '| | |',
    '|---|---|',
    ...rows.filter(([, value]) => value).map(([name, value]) => `| ${name} | ${cell(value!)} |`),
    '',
    ...(check ? failures(check) : []),
    t('Read from the file, without loading it. The memory is an upper estimate; graphics memory is not counted.'),
    '',
  ].join('\n');
}

function failures(check: CheckResult): string[] {
  const [, ...table] = failuresAsMarkdown(check, t);
  return table.length > 0 ? [...table, ''] : [];
}

function sizeText({ bytes, files }: LocalModel): string {
  const size = byteSizeText(bytes);
  return files.length > 1 ? t('{0} in {1} files', size, files.length) : size;
}

const tokenText = (bytes: number): string =>
  t('{0} kB of memory, and as much of the disk while it is cached', withDigitGrouping(Math.ceil(bytes / 1000)));

/** Returns the size; the first file of a split model counts only its own parameters. */
function parametersText({ sizeLabel, parameters, parts }: GgufInfo): string {
  return [sizeLabel, parts === 1 && parameters.toLocaleString(currentLocale())].filter(Boolean).join(', ');
}

function templateText(embedded: boolean, chatWrapper: ChatWrapperName): string {
  const own = embedded ? t('embedded template') : t('none: the engine guesses the format');
  if (chatWrapper === 'auto' || (chatWrapper === 'jinjaTemplate' && embedded)) return own;
  return embedded
    ? t('{0}, set by towpath.local.chatWrapper (the file has its own)', chatWrapper)
    : t('{0}, set by towpath.local.chatWrapper (the file has none)', chatWrapper);
}

function whereText({ gpu, gpuLayers, layers }: DeviceInfo): string {
  if (gpu === false) return t('on the CPU');
  if (gpuLayers === 0) return t('on the CPU (no layer fits on {0})', gpu);
  return gpuLayers < layers
    ? t('on the GPU ({0}, {1} of {2} layers, the others on the CPU)', gpu, gpuLayers, layers)
    : t('on the GPU ({0}, {1} of {2} layers)', gpu, gpuLayers, layers);
}

/** Describes the engine of local models; `wanted`: the setting permits a GPU. */
export function localEngineText(
  { installed, gpu, missing, hardware, advice }: InferenceEngineStatus,
  wanted = true,
): string {
  const engines = installed.join(', ');
  if (missing) return t('nothing: {0}', missing);
  if (!wanted) return t('the CPU ({0}), because towpath.local.gpu is off.', engines);
  const device =
    gpu.length > 0
      ? t(
          '{0} if it works, else the CPU ({1}).',
          gpu.reduce((one, other) => t('{0} or {1}', one, other)),
          engines,
        )
      : t('the CPU ({0}).', engines);
  return [device, hardware && t('Found: {0}', hardware), advice].filter(Boolean).join(' ');
}

const cell = (text: string) => escapeInvisibleInLine(text).replaceAll('|', '\\|');
