import type { Intent } from '../../../src/protocol/panel/intents.ts';

/** `contributes.commands` of package.json. */
export const commandContributions = (all: readonly Intent[]) =>
  all.flatMap(({ id, title, icon, enablement }) =>
    title === undefined
      ? []
      : {
          command: id,
          title,
          category: 'Towpath',
          ...(icon && { icon: `$(${icon})` }),
          ...(enablement && { enablement }),
        },
  );

/** `contributes.menus.commandPalette` of package.json. */
export const paletteContributions = (all: readonly Intent[]) =>
  all.flatMap(({ id, when }) => (when === undefined ? [] : { command: id, when: String(when) }));

/** The text of package.json with the commands of the table. */
export function withCommands(manifest: string, all: readonly Intent[]): string {
  const next = JSON.parse(manifest);
  next.contributes.commands = commandContributions(all);
  next.contributes.menus.commandPalette = paletteContributions(all);
  return `${JSON.stringify(next, undefined, 2)}\n`;
}
