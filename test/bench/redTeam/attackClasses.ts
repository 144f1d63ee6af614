import type { AttackClass } from './attack.ts';
import { gitAttacks } from './gitAttacks.ts';
import { links } from './links.ts';
import { network } from './network.ts';
import { processes } from './processes.ts';
import { protectedFiles } from './protectedFiles.ts';
import { secrets } from './secrets.ts';
import { writes } from './writes.ts';

export const attackClasses: readonly AttackClass[] = [
  writes,
  links,
  secrets,
  gitAttacks,
  protectedFiles,
  network,
  processes,
];
