import { z } from 'zod';
import { ruleSeverities } from '../../../core/model/vulnerabilities.ts';
import { withRules } from '../rules.ts';
import { duration, pattern, secretKeyOf } from './scalars.ts';

const secretRef = secretKeyOf('the policy')('The Secret that holds the public key.');

const keyless = withRules(
  z
    .object({
      issuer: z
        .string()
        .min(1)
        .max(512)
        .regex(/^https?:\/\/[^\s]+$/, 'the URL of an issuer, such as "https://token.actions.githubusercontent.com"')
        .describe('The issuer of the OIDC token that proved the identity, such as "https://token.actions.githubusercontent.com".'),
      identity: z
        .string()
        .min(1)
        .max(1024)
        .exactOptional()
        .describe('The identity as it is in the certificate: an e-mail address or a URL.'),
      identityPattern: pattern(
        'An RE2 expression that must match the whole identity, such as "https://github\\.com/shop/web/\\.github/workflows/release\\.yml@refs/tags/.*".',
      ).exactOptional(),
    })
    .describe('A signer without a key, identified by the certificate of the signature.'),
  [
    {
      rule: 'has(self.identity) != has(self.identityPattern)',
      message: 'write either identity or identityPattern',
    },
  ],
);

const signedBy = (what: string) =>
  withRules(
    z
      .object({
        keys: z
          .array(z.object({ secretRef }).describe('A public key in PEM form.'))
          .min(1)
          .max(8)
          .exactOptional()
          .describe('Public keys; a signature by one of them is enough.'),
        keyless: z
          .array(keyless)
          .min(1)
          .max(8)
          .exactOptional()
          .describe(
            'Signers without a key, by their identity; a signature by one of them is enough. Needs verification.trustRootFile in the configuration.',
          ),
      })
      .describe(what),
    [
      {
        rule: 'has(self.keys) || has(self.keyless)',
        message: 'write keys, keyless or both',
      },
    ],
  );

const cosign = signedBy('A cosign signature, by one of the keys or one of the keyless signers.');

const pgpKey = secretKeyOf('the policy')('The Secret that holds public keys of OpenPGP in ASCII form.');

const provenance = z
  .object({
    keys: z
      .array(z.object({ secretRef: pgpKey }).describe('Public keys of OpenPGP, as `gpg --export --armor` writes them.'))
      .min(1)
      .max(8)
      .describe('Public keys; a provenance by one of them is enough.'),
  })
  .describe("Helm's provenance of a chart (`helm package --sign`), by one of the keys. Needs `artifact: Chart`.");

/** Schema of `spec.verify` of a BaseImagePolicy. */
export const verifyBase = z.object({ cosign }).describe('What a base must satisfy before anything is done for it.');

const severity = z.enum(ruleSeverities).describe('A severity; what is more severe is included.');

/** Schema of `spec.minAgeUnless` and `spec.update.windowsUnless`. */
export const unless = (what: string) =>
  z
    .object({ fixes: severity })
    .describe(
      `${what} The image must fix a vulnerability of at least this severity of an image that it replaces, and add none. Needs verify.vulnerabilities; without evidence, the image waits.`,
    );

const vulnerabilities = withRules(
  z
    .object({
      attestations: signedBy(
        'Attestations of cosign about the image (vuln, OpenVEX), signed by one of the keys or one of the keyless signers. Others do not count.',
      ).exactOptional(),
      harbor: z.boolean().exactOptional().describe('Whether the scanner of Harbor is asked, where the registry of the image is one.'),
      trivyOperator: z
        .boolean()
        .exactOptional()
        .describe(
          'Whether VulnerabilityReports of Trivy Operator in the namespaces of the targets count. Whoever may write them there decides what they say.',
        ),
      maxAge: duration('How old the scan of an image may be before it is applied; an older one does not count.').default('168h'),
      notMoreThanRunning: severity
        .exactOptional()
        .describe(
          'From this severity on, an image must not have more vulnerabilities than the one that it replaces. An image without evidence is not applied.',
        ),
    })
    .describe('Where evidence of the vulnerabilities of an image comes from, and what it must satisfy.'),
  [
    {
      rule: 'has(self.attestations) || (has(self.harbor) && self.harbor) || (has(self.trivyOperator) && self.trivyOperator)',
      message: 'write where evidence comes from: attestations, harbor: true or trivyOperator: true',
    },
  ],
);

/** Schema of `spec.verify`. */
export const verify = withRules(
  z
    .object({
      cosign: cosign.exactOptional(),
      provenance: provenance.exactOptional(),
      vulnerabilities: vulnerabilities.exactOptional(),
    })
    .describe('What an image must satisfy before it is applied: all that is written.'),
  [
    {
      rule: 'has(self.cosign) || has(self.provenance) || has(self.vulnerabilities)',
      message: 'write cosign, provenance or vulnerabilities, or several of them',
    },
  ],
);
