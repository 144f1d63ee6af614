/** Program that the first process of a sandbox starts. Absolute paths. */
export interface SandboxedProgram {
  program: readonly string[];
  environment: NodeJS.ProcessEnv;
  /** Working folder. */
  folder: string;
  /** Folders in which files can be opened for writing. One that does not exist is ignored. */
  writable: readonly string[];
}

/** Number of the descriptor, a socket, at which the first process writes a line when it is ready and then reads `programMessage`. */
export const programDescriptor = 6;

/**
 * Command line of the first process of a PID namespace: Bubblewrap then ends when the kernel has ended all other ones. Its own first process
 * reports the exit of the command while processes in the background still write.
 *
 * If the kernel has Landlock (Linux 5.19 or newer), no process of the command can open a file for writing outside of the writable folders. A
 * read-only mount does not prevent that for named pipes, which a program outside may read.
 */
export const firstProcess = (perl: string): string[] => [perl, '-e', script];

/** Returns the text of a program for the first process. Other users could read arguments. Throws if a text contains a zero byte. */
export function programMessage({ program, environment, folder, writable }: SandboxedProgram): string {
  const variables = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  const texts = [folder, variables.length, ...variables, writable.length, ...writable, ...program].map(String);
  if (texts.some((text) => text.includes('\0'))) throw new Error('It contains a zero byte.');
  return texts.join('\0');
}

/** Numbers of system calls, which are the same for all processors. */
const calls = { createRuleset: 444, addRule: 445, restrictSelf: 446 } as const;
const versionFlag = 1; // LANDLOCK_CREATE_RULESET_VERSION
/** LANDLOCK_ACCESS_FS_WRITE_FILE, and LANDLOCK_ACCESS_FS_REFER, without which no file could be moved to another folder. */
const access = (1 << 1) | (1 << 13);
const rulePathBeneath = 1; // LANDLOCK_RULE_PATH_BENEATH
const openPath = 0o10000000; // O_PATH

// `pack` writes the structures of `linux/landlock.h`: the handled access; the allowed access with a descriptor.
const script = `
sub fail { print STDERR "@_: $!\\n"; exit 127 }
open my $socket, '+<&=', ${programDescriptor} or fail 'descriptor';
syswrite $socket, "\\n";
my $text = '';
1 while sysread $socket, $text, 65536, length $text;
exit 127 if $text eq '';
close $socket;
my ($folder, @program) = split /\\0/, $text, -1;
my @variables = splice @program, 0, shift @program;
my @writable = splice @program, 0, shift @program;
if (syscall(${calls.createRuleset}, 0, 0, ${versionFlag}) >= 2) {
  my $handled = pack 'Q', ${access};
  my $rules = syscall ${calls.createRuleset}, $handled, length $handled, 0;
  fail 'Landlock' if $rules < 0;
  for (@writable) {
    sysopen my $path, $_, ${openPath} or next;
    my $rule = pack 'Ql', ${access}, fileno $path;
    fail $_ if syscall ${calls.addRule}, $rules, ${rulePathBeneath}, $rule, 0;
  }
  fail 'Landlock' if syscall ${calls.restrictSelf}, $rules, 0;
}
chdir $folder or fail $folder;
%ENV = map { split /=/, $_, 2 } @variables;
my $child = fork // fail 'fork';
if (!$child) { exec { $program[0] } @program; fail $program[0] }
my $ended;
do { $ended = wait } until $ended == $child;
exit($? & 127 ? 128 + ($? & 127) : $? >> 8);
`;
