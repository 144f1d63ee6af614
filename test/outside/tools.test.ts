import { casesOf } from './cases.ts';
import { checkToolCase, type ToolCase } from './tool.ts';

describe('tools: calls as models make them, in files and output as they are', () => {
  for (const { title, input } of casesOf<ToolCase>('tool'))
    if (!title.startsWith('arguments-')) it(title, () => checkToolCase(input));
});
