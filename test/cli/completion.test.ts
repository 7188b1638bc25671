/** Completion: of the program itself, and in the shells, run as they are. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { scripts, shells, type Shell } from '../../src/cli/completion/scripts.ts';
import { commands } from '../../src/cli/index.ts';
import { runProgram } from '../../src/cli/program.ts';
import { mainProgram } from '../harness/program.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { createPolicies, startCliWorld, type CliWorld } from './cluster-world.ts';

const main = await mainProgram();

/** The words that the program offers, and the directive. */
async function offered(...words: string[]): Promise<string[]> {
  let out = '';
  const code = await runProgram(commands, ['__complete', ...words], { out: (text) => (out += text), err: assert.fail });
  assert.equal(code, 0);
  return out.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0] ?? '']));
}

describe('completion', () => {
  for (const [line, expected] of [
    [['ge'], ['get', 'generate-password', ':4']],
    [
      ['-n', 'shop', 'expl'],
      ['explain', ':4'],
    ],
    [
      ['crd', 'a'],
      ['apply', ':4'],
    ],
    [
      ['crd', 'apply', '--conversion-u'],
      ['--conversion-url', ':4'],
    ],
    [
      ['get', '--al'],
      ['--all-namespaces', ':4'],
    ],
    [
      ['get', '-o', ''],
      ['text', 'wide', 'json', 'yaml', 'name', ':4'],
    ],
    [
      ['get', '--output=j'],
      ['json', ':4'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', ':4'],
    ],
    [['version', ''], [':4']],
    [['check', '--timeout', ''], [':4']],
    [['simulate', '--file', ''], [':0']],
    [['lint', ''], [':0']],
    [['dance', ''], [':4']],
  ] as const)
    it(`offers the right words after "${line.join(' ')}"`, async () => {
      assert.deepEqual((await offered(...line)).toSorted(), [...expected].toSorted());
    });

  it('offers every command before the first letter', async () => {
    assert.deepEqual((await offered('')).toSorted(), [...commands.map(({ name }) => name), ':4'].toSorted());
  });

  it('offers nothing, without an error, if the cluster does not answer', async () => {
    const kubeconfig = writeKubeconfig('https://127.0.0.1:1', {});
    assert.deepEqual(await offered('get', '--kubeconfig', kubeconfig, ''), [':4']);
    assert.deepEqual(await offered('get', '--kubeconfig', '/does/not/exist', ''), [':4']);
  });

  it('offers no word that a shell would run', async () => {
    const name = '$(touch /tmp/oops)';
    const file = join(tempFolder('kubeconfig'), 'config');
    const config = { contexts: [name, 'prod'].map((one) => ({ name: one, context: { cluster: 'a', user: 'a' } })) };
    const rest = { clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1' } }], users: [{ name: 'a', user: {} }] };
    writeFileSync(file, JSON.stringify({ ...config, ...rest, 'current-context': 'prod' }));
    assert.deepEqual(await offered('get', '--kubeconfig', file, '--context', ''), ['prod', ':4']);
  });
});

describe('names of policies in the cluster', () => {
  let world: CliWorld;
  let folder: string;
  before(async () => {
    world = await startCliWorld();
    await createPolicies(world);
    folder = tempFolder('completion');
    writeFileSync(join(folder, 'image-watcher'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
    chmodSync(join(folder, 'image-watcher'), 0o755);
    writeFileSync(join(folder, 'body.json'), '{}');
    for (const shell of shells) writeFileSync(join(folder, shell), scripts[shell]);
  });
  after(() => world.stop());

  const drivers: Readonly<Record<Shell, { readonly args: (words: readonly string[]) => string[]; readonly environment?: object }>> = {
    bash: {
      args: (words) => [
        '--norc',
        '-c',
        `[ -r /usr/share/bash-completion/bash_completion ] && . /usr/share/bash-completion/bash_completion
         . ./bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=\${#COMP_LINE}; COMP_TYPE=9
         _image_watcher; printf '%s\\n' "\${COMPREPLY[@]}"`,
        'bash',
        ...words,
      ],
    },
    fish: {
      args: (words) => [
        '--no-config',
        '-c',
        `source ./fish; complete -C ${JSON.stringify(words.join(' '))} | string replace -r '\\t.*' ''; true`,
      ],
    },
    // The words that its completion function gives to compadd: zsh itself shows them only on a terminal.
    zsh: {
      args: (words) => [
        '-f',
        '-c',
        `compdef() { : }; _describe() { print -rl -- "\${(@)\${(P)4}%%:*}" }; _files() { print -rl -- *(N) }; compset() { : }
         . ./zsh; words=("$@"); CURRENT=$#; _image-watcher`,
        'zsh',
        ...words,
      ],
    },
  };

  for (const shell of shells) {
    const skip = spawnSync(shell, ['--version']).status === 0 ? false : `${shell} is not installed`;
    const completed = async (...words: string[]) => {
      const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, KUBECONFIG: world.kubeconfig, HOME: folder };
      const { stdout } = await promisify(execFile)(shell, drivers[shell].args(['image-watcher', ...words]), { cwd: folder, env });
      return stdout.split('\n').filter(Boolean).toSorted();
    };
    it(`are completed in the shell ${shell}`, { skip }, async () => {
      assert.deepEqual(await completed('ge'), ['generate-password', 'get']);
      assert.deepEqual(await completed('explain', ''), ['api', 'held', 'web']);
      assert.deepEqual(await completed('explain', 'ipol/w'), ['ipol/web']);
      assert.deepEqual(await completed('explain', `${world.namespace}/h`), [`${world.namespace}/held`]);
      assert.deepEqual(await completed('get', '-n', world.namespace.slice(0, 8)), [world.namespace]);
      assert.deepEqual(await completed('get', '--output', 'y'), ['yaml']);
      assert.ok((await completed('simulate', '--file', '')).some((word) => word.includes('body.json')));
      assert.deepEqual(await completed('get', '--output=y'), shell === 'fish' ? ['--output=yaml'] : ['yaml']);
    });
  }
});
