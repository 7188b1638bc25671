import { byCode, byRule, release, specWith, type RefusedSpec } from './specs.ts';

/** What is wrong with images that are to be changed together. */
export const alongside: readonly RefusedSpec[] = [
  byRule(
    'tags that move, alongside by their names',
    specWith({ select: { digest: { tag: 'latest' } }, alongside: { images: [{ image: 'shop/proxy' }] } }),
    'spec',
    'a tag that moves does not show which images belong together',
  ),
  byRule(
    'tags that move, alongside by their names, which is written',
    specWith({ select: { digest: { tag: 'latest' } }, alongside: { images: [{ image: 'shop/proxy' }], match: 'SameTag' } }),
    'spec',
    'write alongside.match: SameRevision or SameDigestList',
  ),
  byRule(
    'a tag alongside',
    specWith({ alongside: { images: [{ image: 'shop/proxy:1.0' }] } }),
    'spec.alongside.images[0].image',
    'write only the repository, without a tag or digest: match chooses the tag',
  ),
  byCode(
    'the own image alongside',
    specWith({ alongside: { images: [{ image: 'HARBOR.example.com:443/shop/web' }] } }),
    'spec.alongside.images[0].image',
    'the image is named already',
  ),
  byCode(
    'an image twice alongside',
    specWith({ alongside: { images: [{ image: 'nginx' }, { image: 'docker.io/library/nginx' }] } }),
    'spec.alongside.images[1].image',
    'the image is named already',
  ),
  byCode(
    'fields of a custom resource, with images alongside',
    specWith({ alongside: { images: [{ image: 'nginx' }] }, targets: [{ ...release, fields: { tag: 'spec.values.image.tag' } }] }),
    'spec.targets[0].fields',
    'only containers are changed together',
  ),
  byCode(
    'a tag that replaces another, with images alongside',
    specWith({ select: { replace: { from: 'a', to: 'b' } }, alongside: { images: [{ image: 'nginx' }] } }),
    'spec.select.replace',
    'a tag that replaces another has no companions',
  ),
];
