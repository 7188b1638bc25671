import { readFileSync } from 'node:fs';
import { ConfigError } from '../config.ts';
import { describeError } from '../core/errors.ts';
import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { readSecret } from '../kube/read-secret.ts';
import type { SignatureRegistry } from '../verify/find-signatures.ts';
import { createImageVerifier, type VerifyImage } from '../verify/image-verifier.ts';
import { readTrustRoot } from '../verify/trust-root.ts';
import type { Foundation } from './foundation.ts';

/** What verifies signatures; throws ConfigError when the trust root of the configuration cannot be used. */
export function openVerifier({ settings }: Foundation, client: KubeClient, registry: SignatureRegistry): VerifyImage {
  const { trustRootFile } = settings.config.verification;
  return createImageVerifier({
    registry,
    trustRoot: trustRootFile === undefined ? undefined : openTrustRoot(trustRootFile),
    async readSecret({ namespace, name }, signal) {
      try {
        const data = await readSecret(client, { namespace, name }, signal);
        return data === undefined ? { why: 'does not exist' } : { data };
      } catch (error) {
        if (!isKubeError(error, 403)) throw error;
        return { why: `may not be read: grant image-watcher the verb "get" on "secrets" in namespace ${namespace}` };
      }
    },
  });
}

function openTrustRoot(file: string): ReturnType<typeof readTrustRoot> {
  try {
    return readTrustRoot(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigError('configuration', [{ path: 'verification.trustRootFile', message: `${file}: ${describeError(error)}` }]);
  }
}
