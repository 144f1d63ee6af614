import type { AttackClass } from './attack.ts';
import { gitAttacks } from './gitAttacks.ts';
import { links } from './links.ts';
import { secrets } from './secrets.ts';
import { writes } from './writes.ts';

export const attackClasses: readonly AttackClass[] = [writes, links, secrets, gitAttacks];
