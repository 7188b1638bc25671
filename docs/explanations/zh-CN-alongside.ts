/** What the Chinese pages say of images that are changed together, by the English texts. */
export const chineseAlongside: Readonly<Record<string, string>> = {
  'An application and its sidecar, which one pipeline pushes under the same tag: both containers are changed in one patch, or neither. An image whose sidecar has not come within ten minutes is passed over.':
    '应用和它的边车，由同一条流水线以相同标签推送：两个容器在同一个补丁中修改，或都不修改。如果十分钟内没有等到边车，就跳过该镜像。',
  'Images that are changed together with the selected one, in the same patch: a workload never runs a part of them.':
    '与选中的镜像在同一个补丁中一起修改的镜像：工作负载从不只运行其中一部分。',
  'The companions, such as a sidecar.': '一起更新的镜像，例如边车。',
  'write only the repository, without a tag or digest: match chooses the tag': '只写镜像名称，不写标签和摘要：标签由 match 选择',
  'The containers that run it; by default all that run this image.': '运行它的容器；默认是运行该镜像的所有容器。',
  'Which image of a companion belongs to the selected one. SameTag: the one with the same tag. SameRevision: the newest that was built from the same commit, as org.opencontainers.image.revision says in its annotations or labels. SameDigestList: the one that the selected image lists by repository, tag and digest in its annotation or label operator.technomad.dev/images.':
    '哪个镜像与选中的镜像属于一组。SameTag：标签相同的镜像。SameRevision：从同一个提交构建的最新镜像，以注解或标签 org.opencontainers.image.revision 为准。SameDigestList：选中的镜像在自己的注解或标签 operator.technomad.dev/images 中以名称、标签和摘要列出的镜像。',
  'How long an image waits for missing companions before it is passed over. A duration in h, m and s, at most 8784h: "90s", "1h30m".':
    '镜像等待缺少的一起更新的镜像多久，之后跳过它。时长以 h、m 和 s 为单位，最长 8784h，例如 "90s"、"1h30m"。',
  'a tag that moves does not show which images belong together: write alongside.match: SameRevision or SameDigestList, or select another way than by select.digest':
    '会移动的标签不能表明哪些镜像属于一组：请写 alongside.match: SameRevision 或 SameDigestList，或不用 select.digest 选择',
  'The digest of the set with the companions (spec.alongside): the SHA-256 of its images, each as a line REPOSITORY@DIGEST.':
    '与一起更新的镜像（spec.alongside）组成的一组的摘要：每个镜像一行 REPOSITORY@DIGEST，取其 SHA-256。',
  'The repository of the companion.': '一起更新的镜像的名称。',
  'The tag of the companion.': '一起更新的镜像的标签。',
  'The companions that belong to it.': '与它属于一组的镜像。',
  'The companions that were changed in the same patch.': '在同一个补丁中修改的一起更新的镜像。',
  'The container.': '容器。',
  'The previous image.': '之前的镜像。',
  'The new image.': '新的镜像。',
  'Whether it runs a companion (spec.alongside).': '是否运行一起更新的镜像（spec.alongside）。',
  'The digest that waits for approval; with companions, the digest of their set.': '等待批准的摘要；有一起更新的镜像时，是这一组的摘要。',
  'The images of the set that waits for approval, the own one first; only with companions.':
    '等待批准的一组镜像，策略自己的镜像在前；仅在有一起更新的镜像时存在。',
  'The last 10 images of which companions are missing, the latest first.': '缺少一起更新的镜像的最近 10 个镜像，最新的在前。',
  'The tag.': '标签。',
  'The companions that the registry does not hold.': '镜像仓库中没有的一起更新的镜像。',
  'When the policy first saw it without them: spec.alongside.within counts from here.':
    '策略首次发现它缺少这些镜像的时间：spec.alongside.within 从此时计算。',
};

/** What docs/reasons.zh-CN.md says of them. */
export const chineseAlongsideReasons: Readonly<Record<string, string>> = {
  'The registry does not hold the companions that belong to the image.': '镜像仓库中没有与该镜像属于一组的镜像。',
  '`Reconciling`, and `status.waiting` until `spec.alongside.within` is over; `status.incomplete` lists what is missing. A push of an image that was passed over is ignored.':
    '`Reconciling`，以及 `status.waiting`，直到 `spec.alongside.within` 结束；`status.incomplete` 列出缺少的内容。对被跳过的镜像的推送会被忽略。',
  'The registry does not hold every image in `spec.alongside` that belongs to the selected one: the same tag, one of the same commit, or the digest that it lists. Nothing is changed to a part of them. The message names what is missing, and what is wrong with a list.':
    '镜像仓库中缺少 `spec.alongside` 里与选中的镜像属于一组的镜像：相同标签、来自同一个提交，或其清单列出的摘要。不会只修改其中一部分。消息写明缺少什么，以及清单有什么问题。',
  'Push what is missing: the policy goes on at once. Where the image itself does not name its commit or its companions, [build it again](releases.md#which-images-belong-together) with them. Otherwise the image is passed over when the time is over, and the next best tag whose companions are complete is used; it is taken after all when they come later.':
    '推送缺少的镜像：策略立即继续。如果镜像自身没有写明提交或一起更新的镜像，请[重新构建](releases.md#which-images-belong-together)并写明。否则时间一到就跳过该镜像，使用下一个齐全的最佳标签；之后缺少的镜像到来时，仍会采用它。',
  'Another policy changes a container that the policy changes alongside its own.': '另一个策略也修改该策略一起更新的容器。',
  'Another ImagePolicy changes a container that runs an image in `spec.alongside`. It would change that container alone, and the images would no longer belong together.':
    '另一个 ImagePolicy 也修改运行 `spec.alongside` 中镜像的容器。它会单独修改该容器，镜像就不再属于一组。',
  'Take the container out of one of the two policies. The policy is reconciled as soon as either changes.':
    '从两个策略之一中去掉该容器。任何一个策略变化后，立即调和。',
};
