import type { Row } from './row.ts';

type Rest = Partial<Row> & Pick<Row, 'yes' | 'no'>;

/** A row of a tool that builds or checks. */
export const tool = (command: string, options: string, more: Rest): Row => ({
  command,
  kind: 'checks',
  why: 'It builds or checks the project as the project has set it up. Options that start another program, take another configuration, load other code, change files or write elsewhere are asked about.',
  options,
  ...more,
});
/** The same for one that takes files and folders. */
export const fileTool = (command: string, options: string, more: Rest): Row =>
  tool(command, options, { operands: 'paths', ...more });
/** A row of a command that shows what there is. */
export const looks = (command: string, options: string, more: Rest): Row => ({
  ...tool(command, options, { kind: 'looks', why: 'It shows what the project is made of.', ...more }),
});

/** Of a tool that reads the project's `.env` in every run, whatever it is told. */
export const handsOnSettings =
  "It builds or checks the project, and hands its `.env` to the project's own code, in every run: who allowed one has allowed that. A model may not read that file; no option of these shows or sends what is in it, nor says which other file to take. What loads other code, takes another configuration or writes elsewhere is asked about.";

/** It looks, but asks the compiler that the project's own configuration names. */
export const asksCompiler = {
  kind: 'checks',
  why: 'It shows what the project is made of, and may start the compiler that the project names.',
} as const;
