/** Programs with exit code 1 as a result, and its meaning. Higher codes are failures. */
const answers = {
  grep: 'no match',
  egrep: 'no match',
  fgrep: 'no match',
  rg: 'no match',
  pgrep: 'no match',
  diff: 'they differ',
  cmp: 'they differ',
  test: 'no',
  '[': 'no',
  which: 'not found',
} as const;
type Answer = (typeof answers)[keyof typeof answers];

/** Returns the meaning of an exit code of the last program in a simple pipeline. Other command lines may have ended elsewhere. */
export function exitCodeMeaning(line: string, exitCode: number): Answer | undefined {
  if (exitCode !== 1 || /[;&\n`(){}<>]|\|\||"|'/.test(withoutQuoted(line))) return undefined;
  const words = withoutQuoted(line).split('|').at(-1)!.trim().split(/\s+/);
  const program = words.find((word) => !/^\w+=/.test(word)) ?? '';
  if (program === 'git') return gitAnswer(words);
  return Object.hasOwn(answers, program) ? answers[program as keyof typeof answers] : undefined;
}

function gitAnswer([, command, ...rest]: readonly string[]): Answer | undefined {
  if (command === 'grep') return 'no match';
  const says = rest.includes('--quiet') || rest.includes('--exit-code');
  return command === 'diff' && says ? 'they differ' : undefined;
}

const withoutQuoted = (line: string): string =>
  line.replace(/'[^']*'|"(?:[^"\\$`]|\\.)*"/g, 'quoted').replace(/\\./g, 'x');
