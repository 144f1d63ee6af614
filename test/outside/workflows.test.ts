import assert from 'node:assert/strict';
import { loadWorkflow } from '../../src/workflows/read/validate.ts';
import { toolNames } from '../workflows/stage.ts';
import { casesOf } from './cases.ts';

describe('workflow files as people write them', () => {
  for (const { title, input } of casesOf<{ text: string; want: { says: string } }>('yaml'))
    it(title, () => {
      const { problems, warnings } = loadWorkflow(input.text, { tools: toolNames });
      const told = [...problems, ...warnings].map(({ message }) => message);
      assert.ok(
        told.some((message) => new RegExp(input.want.says, 'i').test(message)),
        JSON.stringify(told),
      );
    });
});
