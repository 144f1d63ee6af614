import * as z from 'zod';

export const webFetchDefinition = {
  name: 'web.fetch',
  description: 'Fetch a page as text.',
  arguments: { url: z.string().max(2000).meta({ help: 'The address, `https://…`.' }) },
  gives: {
    url: z.string().describe('The final address.'),
    contentType: z.string().describe('The type that the server sent: `text/html`.'),
    bytes: z.number().describe('Size of the page as received.'),
    title: z.string().optional().describe('Title of an HTML page.'),
    text: z.string().describe('The page without markup; JSON and other text unchanged.'),
    redirects: z.array(z.string()).optional().describe('The addresses of the redirects.'),
    outputId: z.string().optional().describe('Set if `text` is truncated: the id for `output.read`.'),
  },
};
