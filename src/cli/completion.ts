import { complete } from './completion/complete.ts';
import { noFiles, scripts, shells } from './completion/scripts.ts';
import { defineCommand, type Command, type CommandEntry } from '../service/command-line/command.ts';
import { summaries } from './summaries.ts';

export const completion = defineCommand({
  name: 'completion',
  summary: summaries.completion,
  about:
    'Prints a script that completes commands, options, and the names of policies, namespaces and contexts, which it asks the cluster for. For the plugin of kubectl, put kubectl_complete-image_watcher on the PATH.',
  arguments: [{ name: 'SHELL', about: shells.join(', '), missing: `name the shell: ${shells.join(', ')}`, choices: shells }],
  options: {},
  examples: [
    ['completion bash > /etc/bash_completion.d/image-watcher', 'bash, for all users'],
    ['completion zsh > "${fpath[1]}/_image-watcher"', 'zsh'],
    ['completion fish > ~/.config/fish/completions/image-watcher.fish', 'fish'],
  ],
  run(_values, [shell], terminal) {
    terminal.out(scripts[shells.find((known) => known === shell) ?? 'bash']);
    return 0;
  },
});

/** The hidden command that the scripts call with the words of the line; it completes the last one. It prints nothing if something fails. */
export function completer(commands: readonly CommandEntry[]): Command {
  return {
    name: '__complete',
    summary: '',
    help: () => '',
    async run(words, terminal) {
      let isFile = false;
      try {
        const found = complete(await loadNamed(commands, words), words);
        isFile = 'ask' in found && found.ask === 'file';
        for (const { word, about } of 'ask' in found ? await ask(found) : found.candidates)
          if (isSafe(word)) terminal.out(about === undefined ? `${word}\n` : `${word}\t${about}\n`);
      } catch {
        // Ignored, because a shell that waits for a word shows no errors.
      }
      terminal.out(`:${isFile ? 0 : noFiles}\n`);
      return 0;
    },
  };
}

/** Loads the commands that the line may be about. Of the others, only names are needed. */
function loadNamed(commands: readonly CommandEntry[], words: readonly string[]): Promise<(Command | CommandEntry)[]> {
  return Promise.all(commands.map(async (entry) => (words.slice(0, -1).includes(entry.name) ? entry.load() : entry)));
}

async function ask({ ask: what, prefix, given }: Extract<ReturnType<typeof complete>, { ask: unknown }>) {
  if (what === 'file') return [];
  const { askCluster } = await import('./completion/ask-cluster.ts');
  const names = await askCluster(what, prefix, given);
  return names.map((word): { word: string; about?: string } => ({ word }));
}

/** Whether a word may be passed to a shell. Names come from a cluster or a file. */
function isSafe(word: string): boolean {
  return /^[\w@%+=:,./-]+$/.test(word);
}
