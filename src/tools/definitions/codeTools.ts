import * as z from 'zod';
import { classifiedFileShape, fileLinesSchema } from './shapes.ts';

export const editorContextDefinition = {
  name: 'editor.context',
  description: 'Get open files and selection.',
  arguments: {},
  gives: {
    active: z
      .strictObject({
        ...classifiedFileShape,
        line: z.number().optional(),
        selection: z
          .strictObject({
            startLine: z.number(),
            endLine: z.number(),
            text: z.string(),
            cut: z.literal(true).optional(),
          })
          .optional(),
      })
      .optional()
      .describe('The active editor; `line` of the cursor if nothing is selected.'),
    open: z
      .array(z.strictObject({ ...classifiedFileShape, unsaved: z.literal(true).optional() }))
      .describe('All open files.'),
  },
};

export const codeDiagnosticsDefinition = {
  name: 'code.diagnostics',
  description: 'Get errors and warnings.',
  arguments: { path: z.string().optional().meta({ path: true, help: 'A file or folder. Default: the workspace.' }) },
  gives: {
    errors: z.number().describe('Number of errors.'),
    warnings: z.number().describe('Number of warnings.'),
    files: fileLinesSchema.describe('Lines such as `12: error: message (source)`.'),
  },
};

export const codeSymbolsDefinition = {
  name: 'code.symbols',
  description: 'Find symbols in a file or by name (query).',
  arguments: {
    path: z.string().optional().meta({ path: true, help: 'A file whose symbols are listed.' }),
    query: z.string().min(1).max(200).optional().meta({ help: 'A name to find.' }),
  },
  gives: { files: fileLinesSchema.describe('Lines such as `12: function greet (in Greeter)`.') },
};

const named = {
  path: z.string().meta({ path: true, help: 'A file that contains the symbol.' }),
  line: z.int().min(1).max(1e9).meta({ help: 'The line of the symbol, from 1.' }),
  symbol: z.string().min(1).max(200).meta({ help: 'The name of the symbol.' }),
};
const positionArguments = {
  places: z.number().describe('Number of locations.'),
  files: fileLinesSchema.describe('Lines such as `12: text of the line`.'),
};

export const codeReferencesDefinition = {
  name: 'code.references',
  description: 'Find the uses of a symbol.',
  arguments: named,
  gives: positionArguments,
};

export const codeDefinitionDefinition = {
  name: 'code.definition',
  description: "Find a symbol's definition or uses (references).",
  arguments: {
    ...named,
    references: z.boolean().optional().meta({ help: 'Find the uses, like `code.references`.' }),
  },
  gives: positionArguments,
};
