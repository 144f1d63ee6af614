import assert from 'node:assert/strict';
import * as z from 'zod';
import { toToolResult } from '../../../src/protocol/content/tools.ts';
import { imageType, ResultWithImages } from '../../../src/tools/core/imageFiles.ts';
import { createReadOnlyTool, createSideEffectTool, ToolError } from '../../../src/tools/core/tool.ts';
import { mcpCallResultData, mcpResourceData } from '../../../src/tools/mcp/callResult.ts';
import { pixel } from '../../support/images.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation } from '../conversation.ts';

let workspace: TemporaryWorkspace;
before(async () => {
  workspace = await temporaryWorkspace();
});
after(() => workspace.cleanup());

const png = (name: string) => ({ mediaType: 'image/png', data: pixel, name });
const giving = (data: unknown, images: ConstructorParameters<typeof ResultWithImages>[1]) => {
  const tool = createReadOnlyTool(
    { name: 'x.look', description: '', arguments: {} },
    async () => new ResultWithImages(data, images),
  );
  return conversation(workspace, { tools: [tool] }).call('x.look');
};

describe('tools: pictures beside the data', () => {
  it('are an outcome’s own, and not part of what it says in JSON', async () => {
    const outcome = await giving({ a: 1 }, [png('a.png')]);
    assert.deepEqual(outcome, { ok: true, data: { a: 1 }, attachments: [png('a.png')] });
    assert.deepEqual(toToolResult('1', outcome), {
      toolCallId: '1',
      content: '{"ok":true,"data":{"a":1}}',
      attachments: [png('a.png')],
    });
  });

  const large = 'A'.repeat(5_000_001);
  const left: [says: string, images: Parameters<typeof giving>[1], shown: number, leftOut: string[]][] = [
    [
      'more than eight are named',
      Array.from({ length: 10 }, (_, index) => png(`${index}`)),
      8,
      ['8: one result takes at most 8 pictures.', '9: one result takes at most 8 pictures.'],
    ],
    [
      'too large ones are named',
      [{ ...png('wall'), data: large }, png('b')],
      1,
      ['wall: it is larger than 3.7 MB, which is the most that can be shown.'],
    ],
    [
      'what is no picture is named, whatever it says it is',
      [{ mediaType: 'image/png', data: Buffer.from('<svg/>').toString('base64') }],
      0,
      ['image/png: it is no PNG, JPEG, GIF or WebP picture.'],
    ],
  ];
  for (const [says, images, shown, leftOut] of left) {
    it(says, async () => {
      const outcome = await giving({ a: 1 }, images);
      assert.deepEqual(outcome.ok && outcome.data, { a: 1, leftOut });
      assert.equal((outcome.ok && outcome.attachments?.length) || 0, shown);
    });
  }

  it('a wrong claim about the kind is set right, and the base64 is clean', async () => {
    const outcome = await giving('x', [{ mediaType: 'image/webp', data: `${pixel.slice(0, 9)}\n${pixel.slice(9)}` }]);
    assert.deepEqual(outcome, { ok: true, data: 'x', attachments: [png('image/webp')] });
  });

  it('stay when the data is cut, and when the person changed the call', async () => {
    const cut = await giving({ text: 'x'.repeat(100_000) }, [png('a')]);
    assert.deepEqual(cut.ok && cut.attachments, [png('a')]);
    const tool = createSideEffectTool(
      { name: 'x.do', description: '', arguments: { n: z.number() } },
      'execute',
      async () => ({
        what: 'Do',
        where: 'there',
        why: 'asked',
        run: async () => new ResultWithImages({ done: true }, [png('a')]),
      }),
    );
    const person = conversation(workspace, { tools: [tool], answer: { decision: 'allow', edited: '{"n":2}' } });
    assert.deepEqual(await person.call('x.do', { n: 1 }), {
      ok: true,
      data: { done: true, changedByPerson: { n: 2 } },
      attachments: [png('a')],
    });
  });

  const heads: [bytes: string, type: string | undefined][] = [
    ['\x89PNG\r\n\x1a\nrest', 'image/png'],
    ['\xff\xd8\xff\xe0rest', 'image/jpeg'],
    ['GIF89arest', 'image/gif'],
    ['GIF87arest', 'image/gif'],
    ['RIFF\0\n\0\0WEBPrest', 'image/webp'],
    ['RIFF\0\0\0\0WAVErest', undefined],
    ['<svg/>', undefined],
    ['', undefined],
  ];
  for (const [bytes, type] of heads) {
    it(`${JSON.stringify(bytes)}: ${type ?? 'none'}`, () =>
      assert.equal(imageType(Buffer.from(bytes, 'latin1')), type));
  }
});

describe('MCP: pictures in results', () => {
  const image = { type: 'image' as const, mimeType: 'image/png', data: pixel };
  const blob = { uri: 'a:/shot', mimeType: 'image/png', blob: pixel };

  it('are named where they stood, and go beside the text; sounds are named only', () => {
    const audio = { type: 'audio' as const, mimeType: 'audio/wav', data: 'AAAA' };
    const given = mcpCallResultData({
      content: [{ type: 'text', text: 'Here:' }, image, audio, { type: 'resource', resource: blob }],
    });
    const text = [
      'Here:',
      '[image 1: image/png, 72 B]',
      '[audio/wav, 3 B, not shown: results carry text and images only]',
      '[resource a:/shot] [image 2: image/png, 72 B]',
    ].join('\n');
    assert.deepEqual(given, new ResultWithImages({ text }, [png('image 1'), png('image 2')]));
  });

  it('stay beside structured content', () => {
    const given = mcpCallResultData({ content: [image], structuredContent: { a: 1 } });
    assert.deepEqual(
      given,
      new ResultWithImages({ text: '[image 1: image/png, 72 B]', structured: { a: 1 } }, [png('image 1')]),
    );
  });

  it('of a call that failed are not shown', () => {
    assert.throws(() => mcpCallResultData({ content: [image], isError: true }), ToolError);
  });

  it('can be a resource; other bytes are named', () => {
    const other = { uri: 'a:/b', blob: 'AAAA' };
    const text =
      '[resource a:/shot] [image 1: image/png, 72 B]\n' +
      '[resource a:/b] [application/octet-stream, 3 B, not shown: results carry text and images only]';
    assert.deepEqual(mcpResourceData({ contents: [blob, other] }), new ResultWithImages({ text }, [png('image 1')]));
  });
});
