import { checkArgumentValue, matchesValueType, type RequiredFileCheck } from './values.ts';

// Value types by option name; undefined for a flag. An option may be both.
type CommandOptionTypes = Map<string, { flag: boolean; value?: string }>;

const read = new Map<string, CommandOptionTypes>();

export function parseCommandOptionTypes(spelled = ''): CommandOptionTypes {
  const found = read.get(spelled);
  if (found) return found;
  const options: CommandOptionTypes = new Map();
  for (const one of spelled.split(/\s+/).filter(Boolean)) {
    const [, name, type] = /^([^=]+)(?:=(.*))?$/s.exec(one)!;
    const names = name!.split(',').flatMap((one) => ['', 'no-'].map((no) => one.replace('[no-]', no)));
    for (const each of new Set(names)) {
      const before = options.get(each);
      const value = before?.value === undefined ? type : type === undefined ? before.value : `${before.value} ${type}`;
      options.set(each, { flag: type === undefined || (before?.flag ?? false), ...(value !== undefined && { value }) });
    }
  }
  read.set(spelled, options);
  return options;
}

interface Spelled {
  names: string[];
  type?: string;
  value?: string;
  /** The value is the next word. */
  awaits?: true;
}

function readLong(word: string, options: CommandOptionTypes, oneDash?: true): Spelled | undefined {
  const [, spelled, value] = /^([^=]*)(?:=(.*))?$/s.exec(word)!;
  const name = oneDash ? spelled!.replace(/^--(?=.)/, '-') : spelled!;
  const option = options.get(name) ?? options.get(spelled!);
  if (!option) return undefined;
  if (value !== undefined) return option.value === undefined ? undefined : { names: [name], type: option.value, value };
  if (option.flag) return { names: [name] };
  return { names: [name], type: option.value!, awaits: true };
}

function readShort(word: string, options: CommandOptionTypes): Spelled | undefined {
  if (/^-\d+$/.test(word)) return options.has('-#') ? { names: ['-#'] } : undefined;
  const whole = /^(-\w[\w-]+)(?:=(.*))?$/s.exec(word);
  if (whole && options.has(whole[1]!)) return readLong(word, options);
  const names: string[] = [];
  for (let at = 1; at < word.length; at++) {
    const name = `-${word[at]}`;
    const option = options.get(name);
    if (!option) return undefined;
    names.push(name);
    const attached = word.slice(at + 1);
    if (option.value === undefined) continue;
    if (attached !== '' && option.flag && !matchesValueType(option.value, attached)) continue;
    if (attached !== '') return { names, type: option.value, value: attached.replace(/^=/, '') };
    return option.flag ? { names } : { names, type: option.value, awaits: true };
  }
  return { names };
}

/** Options read so far: pending disk checks, values, and option names. */
export interface ParsedCommandOptions {
  claims: RequiredFileCheck[];
  values: string[];
  used: Set<string>;
}

/**
 * Reads the option at `words[at]` in any spelling (`-F X`, `-FX`, `--filter X`, `--filter=X`, a cluster). Returns the index after the
 * option, and the type of further values; undefined for an unknown option or a bad value.
 * @param greedy options that take all words up to the next option as values
 */
export function readCommandOption(
  words: readonly string[],
  at: number,
  options: CommandOptionTypes,
  gathered: ParsedCommandOptions,
  { oneDash, greedy }: { oneDash?: true; greedy?: readonly string[] } = {},
): { next: number; greedy?: string } | undefined {
  const word = words[at]!;
  const option = oneDash || word.startsWith('--') ? readLong(word, options, oneDash) : readShort(word, options);
  if (!option) return undefined;
  const next = words[at + 1] ?? '';
  // Some programs take the word as the value of the preceding flag, others as a file name.
  const takes = (name: string) => matchesValueType(options.get(name)?.value ?? 'nothing', next);
  if (/^(true|false|null)$/.test(next) && !option.awaits && option.value === undefined && !option.names.some(takes))
    return undefined;
  for (const name of option.names) gathered.used.add(name);
  const value = option.awaits ? words[at + 1] : option.value;
  if (
    option.awaits &&
    (value === undefined || (/^-/.test(value) && !/^-\d+$/.test(value) && option.type !== '<strip>'))
  )
    return undefined;
  if (value?.startsWith('--')) return undefined; // the receiving program would parse the value as an option
  if (value !== undefined) gathered.values.push(value);
  if (option.type !== undefined) {
    const allowed = checkArgumentValue(option.type, value ?? '');
    if (allowed === false) return undefined;
    if (allowed !== true) gathered.claims.push(allowed);
  }
  const several = option.names.some((name) => greedy?.includes(name)) ? option.type : undefined;
  return { next: at + (option.awaits ? 2 : 1), ...(several !== undefined && { greedy: several }) };
}
