import { readFileSync } from 'node:fs';
import { readConfig, registryAliases } from '../../service/config/settings.ts';
import { processSource } from '../../service/config/environment.ts';
import { describeReadError } from '../../service/config/read-error.ts';
import { describeError } from '../../core/model/errors.ts';
import { parseImageReference, type RegistryAliases } from '../../core/model/image-reference.ts';
import { createBaseReader } from '../rebase/read-content.ts';
import { createFileSigns } from '../rebase/read-file-signs.ts';
import type { Located } from '../rebase/read-content.ts';
import { rebaseRules } from '../../core/model/rebase-rules.ts';
import { defineCommand, listOf } from '../../service/command-line/command.ts';
import { asUsage, UsageError } from '../../service/command-line/usage-error.ts';
import { outputOption, print } from '../../service/command-line/output.ts';
import { startProgress } from '../../service/command-line/progress.ts';
import { ofRegistry, openRegistry, registryOptions } from '../../service/command-line/user-registry.ts';
import { summaries } from './summaries.ts';

const ruleNames: readonly string[] = rebaseRules;

const options = {
  onto: { value: 'BASE', about: 'the new base: harbor.example.com/library/base-java:21.0.2, or with @sha256:…' },
  from: {
    value: 'BASE',
    multiple: true,
    about: 'the base that the image is built on; several may be named (default: the version of --onto whose layers the image begins with)',
  },
  tag: { value: 'TAG', about: 'the tag of the rebased image, in which $tag and $date are replaced (default $tag-base.$date)' },
  allow: { value: 'RULE', multiple: true, about: `does not check a rule: ${listOf(ruleNames)}` },
  'base-key': {
    value: 'FILE',
    multiple: true,
    completes: 'file',
    about: 'the new base must have a cosign signature by one of these public keys (PEM); needed with --sign-key',
  },
  'sign-key': { value: 'FILE', completes: 'file', about: 'signs the rebased image with this private key (PEM), as cosign does' },
  'sign-password-file': { value: 'FILE', completes: 'file', about: 'the password of an encrypted --sign-key' },
  'dry-run': { about: 'show what would be written, and write nothing' },
  ...registryOptions,
  ...outputOption,
} as const;

export const rebase = defineCommand({
  name: 'rebase',
  summary: summaries.rebase,
  about: `Replaces the layers of an image's old base by those of a new one, under a new tag in the repository of the image, for all of its platforms. The image is refused if its layers do not begin with those of the old base, or if a change of the base would surprise it. No layer is transferred, and repeating the command has the same result.

Uses the credentials of --docker-config, which must be allowed to push to the image's repository and to pull the base.

Exit codes: 0 success, or nothing to do, 1 failure, or the image is refused, 2 wrong usage.`,
  arguments: [
    {
      name: 'IMAGE',
      about: 'the image: harbor.example.com/shop/web:1.2.3',
      missing: 'name the image to rebase, such as harbor.example.com/shop/web:1.2.3',
    },
  ],
  options,
  examples: [
    [
      'rebase harbor.example.com/shop/web:1.2.3 --onto harbor.example.com/library/base-java:21.0.2 --dry-run',
      'whether the image can be rebased',
    ],
    [
      'rebase harbor.example.com/shop/web:1.2.3 --onto harbor.example.com/library/base-java:21.0.2 --base-key base.pub --sign-key rebase.pem',
      'write harbor.example.com/shop/web:1.2.3-base.20261123, and sign it, if the base is signed',
    ],
  ],
  async run(
    { output, config: file, 'docker-config': dockerConfig, onto, from = [], tag = '$tag-base.$date', allow = [], ...values },
    [text = ''],
    terminal,
  ) {
    const config = readConfig(processSource(file));
    const aliases = registryAliases(config);
    const application = locate('IMAGE', text, aliases);
    if (onto === undefined) throw new UsageError('name the new base with --onto, such as harbor.example.com/library/base-java:21.0.2');
    const newBase = locate('--onto', onto, aliases);
    const named = from.map((base) => locate('--from', base, aliases));
    const unknown = allow.find((name) => !ruleNames.includes(name));
    if (unknown !== undefined) throw new UsageError(`--allow is ${listOf(ruleNames)}, not "${unknown}"`);
    const password = values['sign-password-file'];
    if (password !== undefined && values['sign-key'] === undefined) throw new UsageError('--sign-password-file goes with --sign-key');

    // The clients are imported only here, so that the help does not wait for them.
    const [
      { rebaseImage },
      { createBaseAttestations },
      { readSigningKey },
      { readPublicKey },
      { verifyBase, verifyOldBases },
      { findOldBases },
      { formatResult, summarize },
    ] = await Promise.all([
      import('../rebase/rebase-image.ts'),
      import('../rebase/read-base-attestations.ts'),
      import('../rebase/sign-image.ts'),
      import('../../service/verify/public-keys.ts'),
      import('./rebase/verify-base.ts'),
      import('./rebase/find-old-bases.ts'),
      import('./rebase/report.ts'),
    ]);
    const keyFile = values['sign-key'];
    const passphrase = password === undefined ? undefined : readText('--sign-password-file', password).replace(/\r?\n$/, '');
    const signingKey =
      keyFile === undefined ? undefined : asUsage('--sign-key', () => readSigningKey(keyFile, readText('--sign-key', keyFile), passphrase));
    const baseKeys = (values['base-key'] ?? []).map((name) =>
      asUsage('--base-key', () => readPublicKey(name, readText('--base-key', name))),
    );
    const { signal = new AbortController().signal } = terminal;
    const { registry, credentials } = openRegistry(config, dockerConfig);
    const progress = startProgress(terminal, 'recognizing the base …');
    const run = async () => {
      const found =
        named.length > 0 ? named : await findOldBases(application, newBase.source, newBase.reference, { registry, aliases, signal });
      const isBaseVerified = baseKeys.length > 0;
      const verified = isBaseVerified ? await verifyBase(newBase, baseKeys, { registry, signal }) : newBase;
      const old =
        isBaseVerified && signingKey !== undefined
          ? await verifyOldBases(found, baseKeys, { registry, signal })
          : { oldBases: found, isOldBaseVerified: false };
      return rebaseImage(
        { application, newBase: verified, ...old, tag, date: new Date(), allow, signingKey, isBaseVerified },
        {
          registry,
          readFileSigns: createFileSigns(registry),
          readBase: createBaseReader(registry, Date.now),
          readAttestations: createBaseAttestations(registry, Date.now),
          push: values['dry-run'] ? undefined : registry.openPush(application.source, credentials),
          signal,
          now: Date.now,
          onProgress: (what) => progress.update(`${what} …`),
        },
      );
    };
    try {
      const result = await ofRegistry(run(), signal);
      progress.stop();
      if (result.kind === 'refused' && (output ?? 'text') === 'text') terminal.err(formatResult(result));
      else print(terminal, output, summarize(result), () => formatResult(result));
      return result.kind === 'refused' ? 1 : 0;
    } catch (error) {
      progress.stop();
      if (!signal.aborted) terminal.err(`${describeError(error)}\n`);
      return 1;
    } finally {
      progress.stop();
      await registry.close();
    }
  },
});

function locate(what: string, text: string, aliases: RegistryAliases): Located {
  const { repository, tag, digest } = asUsage(what, () => parseImageReference(text, aliases));
  const reference = digest ?? tag;
  if (reference === undefined) throw new UsageError(`${what}: name a tag or a digest of ${text}`);
  return { source: repository, reference, tag };
}

function readText(what: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${what} ${file} ${describeReadError(error)}`, { cause: error });
  }
}
