import type { PullSecret } from '../../../core/model/image-source.ts';
import type { CredentialSource } from '../credential.ts';
import { offerOfSecret, type ReadSecret } from './secret-offer.ts';

const notes: Readonly<Record<PullSecret['namedBy'], string>> = {
  policy: '',
  target: ', an imagePullSecret of the target,',
  serviceAccount: ", an imagePullSecret of the target's service account,",
};

/** The credentials in pull secrets that the policy, its targets and the targets' service accounts name, all in the policy's namespace. */
export function pullSecretCredentials({ readSecret }: { readSecret: ReadSecret }): CredentialSource {
  return (image) =>
    (image.access?.secrets ?? []).map((secret) =>
      offerOfSecret(secret, { note: notes[secret.namedBy], isOwn: secret.namedBy === 'policy' }, image, readSecret),
    );
}
