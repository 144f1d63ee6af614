import { conflicts, restlessCommands, stoppedCommands } from './endings.ts';
import { gitFiles } from './gitFiles.ts';
import { limits } from './limits.ts';
import { network } from './network.ts';
import { privileges } from './privileges.ts';
import type { ProbeGroup } from './probe.ts';
import { processes } from './processes.ts';
import { protectedNames } from './protectedNames.ts';
import { secrets } from './secrets.ts';
import { specialFiles } from './specialFiles.ts';
import { workingCommands } from './workingCommands.ts';
import { writesOutside } from './writesOutside.ts';

export const probeGroups: readonly ProbeGroup[] = [
  { title: 'works', expected: 'effect', probes: workingCommands },
  { title: 'writes outside', probes: writesOutside },
  { title: 'special files', probes: specialFiles },
  { title: 'protected names', probes: protectedNames },
  { title: 'files of Git', probes: gitFiles },
  { title: 'stopped commands', probes: stoppedCommands },
  { title: 'restless commands', probes: restlessCommands },
  { title: 'conflicts', probes: conflicts },
  { title: 'secrets', probes: secrets },
  { title: 'network', probes: network },
  { title: 'processes', probes: processes },
  { title: 'limits', expected: 'effect', probes: limits },
  { title: 'privileges', probes: privileges },
];
