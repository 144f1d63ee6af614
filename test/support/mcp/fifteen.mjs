// An MCP server over stdio with fifteen tools of usual size, by the official SDK.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const property = (index) => ({
  type: ['string', 'number', 'boolean'][index % 3],
  description: `Property ${index} of the tool, which says in a sentence what it is for.`,
});
const tools = Array.from({ length: 15 }, (_, tool) => ({
  name: tool === 0 ? 'echo' : `tool_${tool}`,
  title: `Tool ${tool}`,
  description: `${`Sentence ${tool} about what this tool does, and when it should be used instead of others. `.repeat(5)}`,
  inputSchema: {
    type: 'object',
    properties:
      tool === 0
        ? { text: { type: 'string' } }
        : {
            ...Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`property_${index}`, property(index)])),
            items: { type: 'array', items: { type: 'object', properties: { a: property(0), b: property(1) } } },
            mode: { type: 'string', enum: ['one', 'two', 'three'], default: 'one' },
          },
    required: tool === 0 ? ['text'] : ['property_0', 'mode'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: tool % 2 === 0, destructiveHint: false },
}));

const server = new Server({ name: 'fifteen', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
  content: [{ type: 'text', text: String(params.arguments?.text) }],
}));
await server.connect(new StdioServerTransport());
