// For tests only: asks the models that Towpath offers, as any other extension would.
const vscode = require('vscode');

exports.createAsks = () => {
  const open = new Map();
  const known = new Map(); // an extension may keep a model that is not offered any more
  const find = async (name) => {
    const [model] = (await vscode.lm.selectChatModels({ vendor: 'towpath' })).filter((one) => one.name === name);
    known.set(name, model ?? known.get(name));
    if (!known.get(name)) throw new Error(`Nobody offers ${name}.`);
    return known.get(name);
  };
  return {
    async listed() {
      const all = await vscode.lm.selectChatModels({ vendor: 'towpath' });
      return all.map(({ id, name, maxInputTokens, capabilities }) => ({ id, name, maxInputTokens, capabilities }));
    },
    count: async (name, text) => (await find(name)).countTokens(text),
    /** Begins to ask; `state` tells what has come of it. */
    begin(key, name, text, { tools, required, picture, result } = {}) {
      const ask = { parts: [], cancel: new vscode.CancellationTokenSource() };
      open.set(key, ask);
      const { User, Assistant } = vscode.LanguageModelChatMessage;
      const said = [new vscode.LanguageModelTextPart(text)];
      if (picture) said.push(vscode.LanguageModelDataPart.image(Buffer.from(picture, 'base64'), 'image/png'));
      const messages = [User(said)];
      if (result) {
        messages.push(Assistant([new vscode.LanguageModelToolCallPart('c1', result.name, result.input)]));
        messages.push(
          User([new vscode.LanguageModelToolResultPart('c1', [new vscode.LanguageModelTextPart(result.text)])]),
        );
      }
      const work = async () => {
        const model = await find(name);
        const toolMode = vscode.LanguageModelChatToolMode[required ? 'Required' : 'Auto'];
        const response = await model.sendRequest(messages, tools ? { tools, toolMode } : {}, ask.cancel.token);
        for await (const part of response.stream) {
          if (part instanceof vscode.LanguageModelTextPart) ask.parts.push(part.value);
          else ask.parts.push({ call: part.name, input: part.input });
        }
        ask.end = 'done';
      };
      work().catch((error) => {
        ask.end = `${error.code ?? error.name}: ${error.message}`;
      });
    },
    cancel: (key) => open.get(key).cancel.cancel(),
    state: (key) => ({ parts: open.get(key).parts, end: open.get(key).end }),
  };
};
