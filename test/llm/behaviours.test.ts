import { createLLMClient } from '../../src/llm/createClient.ts';
import { fakeProviders } from '../support/providers.ts';
import { describeBehaviours } from './behaviours.ts';
import { localRow } from './local/row.ts';

for (const fake of fakeProviders) {
  describeBehaviours({
    name: fake.name,
    async start(deeds) {
      const { choice, requests, openSockets, close } = await fake.start(deeds);
      return {
        client: ({ fetchLimits, note: onNote }) =>
          createLLMClient({ ...choice, model: 'scripted', ...(fetchLimits && { fetchLimits }), onNote }),
        requests,
        open: openSockets,
        close,
      };
    },
  });
}

// `vscode-lm` has its row in test/host, where an editor is.
describeBehaviours(localRow);
