import * as z from 'zod';

export const webDefinition = {
  name: 'web.fetch',
  description: 'Get a web page as text.',
  arguments: { url: z.string().max(2000).meta({ help: 'Its address, `https://…`.' }) },
  gives: {
    url: z.string().describe('Where it came from in the end.'),
    contentType: z.string().describe('As the server says: `text/html`.'),
    bytes: z.number().describe('How long the page was as it came.'),
    title: z.string().optional().describe('Of an HTML page.'),
    text: z.string().describe('The page without its markup; JSON and other texts as they are.'),
    redirects: z.array(z.string()).optional().describe('The addresses on the way.'),
    outputId: z.string().optional().describe('Where `text` is cut: for `output.read`.'),
  },
};
