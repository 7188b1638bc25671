import type { SecretRef } from '../../../core/model/image-source.ts';
import type { CredentialSource } from '../credential.ts';
import { offerOfSecret, type ReadSecret } from './secret-offer.ts';

/** The credentials of the Secret that `credentials.secret` of the configuration names, for all images. Offers none if the policy names the same Secret. */
export function fallbackSecretCredentials({ secret, readSecret }: { secret: SecretRef; readSecret: ReadSecret }): CredentialSource {
  return (image) => {
    const isNamed = image.access?.secrets.some(({ namespace, name }) => namespace === secret.namespace && name === secret.name);
    return isNamed === true ? [] : [offerOfSecret(secret, {}, image, readSecret)];
  };
}
