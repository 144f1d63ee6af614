import { perl } from './terminal.ts';

/**
 * Returns the command line of a program that does not lead its session. A leader such as bash would make its terminal the controlling one:
 * programs in other process groups could not read it then, and the end of the editor would end the command. Exit code and signal are those
 * of the program.
 */
export const heldProgram = (program: readonly string[]): string[] => [perl, '-e', script, ...program];

const script = `
$0 = 'bash';
my @held = qw(HUP INT QUIT TERM);
$SIG{$_} = 'IGNORE' for @held;
my $child = fork // exit 127;
if (!$child) {
  $SIG{$_} = 'DEFAULT' for @held;
  exec { $ARGV[0] } @ARGV;
  exit 127;
}
waitpid $child, 0;
my $signal = $? & 127;
exit $? >> 8 if !$signal;
$SIG{$_} = 'DEFAULT' for @held, 'FPE';
kill $signal, $$;
exit 128 + $signal;
`;
