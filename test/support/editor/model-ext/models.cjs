// For tests only: another extension, whose model and tools are offered to the editor and through it to Towpath, and which asks Towpath's
// models. Its model does the deeds that its owner sets on what `activate` gives, one for each request.
const vscode = require('vscode');
const { createAsks } = require('./asks.cjs');
const { registerTools } = require('./tools.cjs');

exports.activate = () => {
  const models = { deeds: [], asked: [], asks: createAsks(), calls: registerTools() };
  const metadata = {
    vendor: 'table',
    name: 'Scripted',
    family: 'scripted',
    version: '1',
    maxInputTokens: 8000,
    maxOutputTokens: 1000,
    isUserSelectable: true,
    capabilities: { toolCalling: true },
  };
  const answer = async (messages, options, report, token) => {
    const deed = models.deeds[models.asked.length];
    models.asked.push({ messages, options });
    await perform(deed, report, token);
  };
  if (vscode.lm.registerChatModelProvider) {
    const provider = {
      provideLanguageModelResponse: (messages, options, _extension, progress, token) =>
        answer(messages, options, (part) => progress.report({ index: 0, part }), token),
      provideTokenCount: async () => 1,
    };
    vscode.lm.registerChatModelProvider('scripted', provider, metadata);
  } else {
    vscode.lm.registerLanguageModelChatProvider('table', {
      provideLanguageModelChatInformation: async () => [{ id: 'scripted', ...metadata }],
      provideLanguageModelChatResponse: (_model, messages, options, progress, token) =>
        answer(messages, options, (part) => progress.report(part), token),
      provideTokenCount: async () => 1,
    });
  }
  return models;
};

async function perform(deed, report, token) {
  if (deed === undefined) throw new Error('The script of this model is over.');
  if (deed === 'no answer') return cancelled(token);
  if ('status' in deed) throw refusal(deed);
  for (const part of deed.parts) {
    report(
      'text' in part
        ? new vscode.LanguageModelTextPart(part.text)
        : new vscode.LanguageModelToolCallPart(part.id ?? `call_${Math.random()}`, part.call, part.args),
    );
    if (deed.everyMs) await new Promise((resolve) => setTimeout(resolve, deed.everyMs));
  }
  if (deed.end === 'hang') return cancelled(token);
  if (deed.end === 'cut') {
    await new Promise((resolve) => setTimeout(resolve, 100)); // an error overtakes what was reported just before
    throw new Error('the connection was reset');
  }
}

/** The editor has words for three refusals; anything else is an error of the extension's own. */
function refusal({ status, message }) {
  if (status === 401 || status === 403) return vscode.LanguageModelError.NoPermissions(message);
  if (status === 429) return vscode.LanguageModelError.Blocked(message);
  if (status === 404) return vscode.LanguageModelError.NotFound(message);
  return new Error(`Request failed: ${status} ${message}`);
}

function cancelled(token) {
  return new Promise((resolve) => token.onCancellationRequested(resolve));
}
