/** The Chinese texts of the reasons of policies that are in order, of ignored webhook events, and of pushes that change nothing, by the English ones. */
export const chinesePushes: Readonly<Record<string, string>> = {
  // inOrder
  'A workload was updated to the selected image.': '工作负载已更新到选中的镜像。',
  'A Normal Event of the policy and of the workload; the push has the outcome `updated`.':
    '策略和工作负载各有一个 Normal Event；推送的结果是 `updated`。',
  'image-watcher patched the image of at least one workload. The Event names the old and the new image.':
    'image-watcher 修改了至少一个工作负载的镜像。Event 指出旧镜像和新镜像。',
  'Nothing. The `Ready` condition is False until the [rollout](rollouts.md) is complete, unless rollouts are not watched.':
    '什么都不用做。在[滚动更新](rollouts.md)完成之前，状况 `Ready` 为 False，除非不观察滚动更新。',
  'Every workload already runs the selected image.': '每个工作负载都已运行选中的镜像。',
  '`Ready` is True; a push has the outcome `unchanged`.': '`Ready` 为 True；推送的结果是 `unchanged`。',
  'No target needs a change. The message of `Ready` names what each target runs.': '没有目标需要修改。`Ready` 的消息指出每个目标运行什么。',
  'Nothing. If you expected an update, compare `status.latest` with the tag that you pushed: `image-watcher explain NS/NAME` shows what the policy selects.':
    '什么都不用做。如果你预期会更新，请比较 `status.latest` 和你推送的标签：`image-watcher explain NS/NAME` 显示策略选择什么。',
  'A workload was changed, and its rollout is under way.': '工作负载已修改，正在滚动更新。',
  '`Ready` is False and [`Reconciling`](#condition-reconciling) is True; the message counts the pods.':
    '`Ready` 为 False，[`Reconciling`](#condition-reconciling) 为 True；消息给出 Pod 的数量。',
  'A workload was changed, and the new pods are not all available yet. If pods cannot be created, for example because a quota is exhausted, the message says so.':
    '工作负载已修改，但新的 Pod 还没有全部可用。如果无法创建 Pod，例如因为配额用尽，消息会说明。',
  'Wait: the state ends when the rollout completes or fails. If it lasts, read the message and run `kubectl describe` for the workload. A rollout whose pods cannot be created does not time out.':
    '等待：滚动更新完成或失败后，该状态结束。如果它持续不变，请看消息，并对该工作负载运行 `kubectl describe`。无法创建 Pod 的滚动更新不会超时。',
  'The rollout of a change is done.': '修改的滚动更新已完成。',
  'A Normal Event of the policy and of the workload, `status.history[].result`; the push has the outcome `updated`.':
    '策略和工作负载各有一个 Normal Event，`status.history[].result`；推送的结果是 `updated`。',
  'All pods of a changed workload run the new image and are available.': '被修改的工作负载的所有 Pod 都运行新镜像，并且可用。',
  'Nothing. Later failures of these pods are not failures of the rollout, and nothing is rolled back for them.':
    '什么都不用做。这些 Pod 之后的失败不算滚动更新失败，也不会为此回滚。',
  'The kind of the workload reports no rollout, so that its success is not known.': '工作负载的类型不报告滚动更新，因此无法得知是否成功。',
  'A Normal Event of the policy and of the workload, after the change; the message of `Ready` repeats it.':
    '修改之后，策略和工作负载各有一个 Normal Event；`Ready` 的消息重复它。',
  'The workload was changed, but cannot show whether the new image works: its kind has no rollout (a CronJob, for example), it updates only when pods are deleted (`OnDelete`), a partition holds all its pods, it is paused, or it has no replicas.':
    '工作负载已修改，但无法表明新镜像能否工作：它的类型没有滚动更新（例如 CronJob），只在删除 Pod 时更新（`OnDelete`），分区（partition）保留了它的所有 Pod，它已暂停，或者没有副本。',
  'Check the new image yourself. With `OnDelete`, delete the pods so that they are created again. A failure there is not rolled back.':
    '请自己检查新镜像。使用 `OnDelete` 时，请删除 Pod，让它们重新创建。此处的失败不会回滚。',
  // ignoredEvents
  'An event that announces no push: a pull, a scan, a deletion, a ping.': '不通知推送的事件：拉取、扫描、删除、ping。',
  'The response to the webhook (as a sentence), `image-watcher events --outcome ignored`, the log at `debug`, `image_watcher_ignored_pushes_total`. No push is stored.':
    '对 Webhook 的响应（以一句话说明）、`image-watcher events --outcome ignored`、`debug` 级别的日志、`image_watcher_ignored_pushes_total`。不存储推送。',
  'The registry sends more than pushes: pulls, scans, deletions, or a ping when the webhook is created.':
    '镜像仓库不只发送推送：还有拉取、扫描、删除，或创建 Webhook 时的 ping。',
  'Nothing. To save requests, select only the push event in the webhook of the registry.':
    '什么都不用做。如果要减少请求，请在镜像仓库的 Webhook 中只选择推送事件。',
  'A body that is not what the provider sends.': '请求体不是提供方（provider）发送的内容。',
  'The response to the webhook (200, "not understood: …"), the log message `delivery not understood`, `image_watcher_malformed_deliveries_total`, and the alert `ImageWatcherSenderNotUnderstood`.':
    '对 Webhook 的响应（200，"not understood: …"）、日志消息 `delivery not understood`、`image_watcher_malformed_deliveries_total`，以及告警 `ImageWatcherSenderNotUnderstood`。',
  'The request was authentic, but its body is not what the provider of the receiver sends: the receiver has the wrong `provider`, or the format changed.':
    '请求通过了认证，但请求体不是该接收端的提供方发送的内容：接收端的 `provider` 不正确，或者格式改变了。',
  'Compare `receivers[].provider` with the sender. Save a body from the delivery log of the registry and parse it with `image-watcher simulate`. Then deliver the push again from the registry.':
    '比较 `receivers[].provider` 和发送方。从镜像仓库的投递日志保存一个请求体，用 `image-watcher simulate` 解析它。然后从镜像仓库再次投递该推送。',
  'A push that lacks what names it: repository, resource, or all of its shape.': '推送缺少指出它的内容：镜像名称、资源，或整个结构。',
  'The event is a push, but does not name its repository, tag or resource, or they have another type than expected.':
    '事件是推送，但没有指出镜像名称、标签或资源，或者它们的类型与预期不同。',
  'If the sender is a template of your own (`generic`), send `repository` and `tag` as in [receivers](receivers.md). Otherwise parse the body with `image-watcher simulate` and report it as a bug.':
    '如果发送方是你自己的模板（`generic`），请按[接收端](receivers.md)的说明发送 `repository` 和 `tag`。否则用 `image-watcher simulate` 解析请求体，并作为缺陷报告。',
  'The payload names no registry, and the receiver none either.': '请求内容没有指出镜像仓库，接收端也没有。',
  'The payload does not contain the host of its registry, and the receiver does not configure one.':
    '请求内容不包含镜像仓库的主机，接收端也没有配置。',
  'Set `receivers[].registry` to the host in the image names of your workloads, restart the receivers, and deliver the push again.':
    '把 `receivers[].registry` 设为工作负载的镜像名称中的主机，重启接收进程，然后再次投递该推送。',
  'An image that was pushed by its digest only.': '只按摘要推送的镜像。',
  'The image was pushed by digest, without a tag. Build tools push the platforms of an image like this, before the tag.':
    '镜像按摘要推送，没有标签。构建工具在推送标签之前，这样推送镜像的各个平台。',
  'Nothing if a tag follows. Policies select tags: an image that is pushed only by digest is never selected.':
    '如果之后有标签，什么都不用做。策略选择标签：只按摘要推送的镜像永远不会被选中。',
  'A signature or attestation of an image, by its tag.': '镜像的签名或证明，由它的标签看出。',
  'The pushed tag belongs to a signature, an attestation or an SBOM of an image, such as `sha256-….sig`.':
    '推送的标签属于镜像的签名、证明或 SBOM，例如 `sha256-….sig`。',
  'Nothing. Signatures are read when the image is [verified](signatures.md).': '什么都不用做。[验证](signatures.md)镜像时会读取签名。',
  'A repository or tag that cannot be one.': '不可能成立的镜像名称或标签。',
  'The repository or the tag in the payload cannot be the name of an image.': '请求内容中的镜像名称或标签不可能是镜像的名称。',
  'Check what the sender names: with Artifactory and Nexus, map the keys of repositories with `receivers[].repositories`. `image-watcher simulate` shows what a body becomes.':
    '检查发送方给出的名称：使用 Artifactory 和 Nexus 时，请用 `receivers[].repositories` 映射仓库的键。`image-watcher simulate` 显示请求体会变成什么。',
  // unchanged
  'No ImagePolicy watches the repository.': '没有 ImagePolicy 监视该镜像。',
  'The push has the outcome `unwatched` (`image-watcher events --outcome unwatched`); `image_watcher_unwatched_pushes_total`.':
    '推送的结果是 `unwatched`（`image-watcher events --outcome unwatched`）；`image_watcher_unwatched_pushes_total`。',
  'The worker knows no policy whose `spec.image` is the pushed repository.': '工作进程不知道任何 `spec.image` 为所推送镜像的策略。',
  'If a policy should match, compare the registry and repository that `image-watcher events` shows with `spec.image`. If the registry has several host names, list them in `registries[].aliases`, or set `receivers[].registry`. Then run `image-watcher replay ID`.':
    '如果应当有策略匹配，请比较 `image-watcher events` 显示的镜像仓库和镜像名称与 `spec.image`。如果镜像仓库有多个主机名，请在 `registries[].aliases` 中列出它们，或设置 `receivers[].registry`。然后运行 `image-watcher replay ID`。',
  'The policy does not select the pushed tag.': '策略不选择推送的标签。',
  'The push has the outcome `ignored` for this policy (`image-watcher events`). The conditions do not change.':
    '推送对该策略的结果是 `ignored`（`image-watcher events`）。状况不变。',
  'The tag is not in the range, does not match the patterns, or is not the tag that the policy follows. The message says which.':
    '标签不在范围内，不匹配模式，或者不是策略跟随的标签。消息说明是哪一种。',
  'Nothing if that is intended. Otherwise change `spec.select` or `spec.tags`; `image-watcher explain NS/NAME` with `--push` tries a tag without a push.':
    '如果这正是意图，什么都不用做。否则修改 `spec.select` 或 `spec.tags`；带有 `--push` 的 `image-watcher explain NS/NAME` 不需要推送就能试一个标签。',
  'What runs is of another track than the selected tag, such as another variant of the image.':
    '正在运行的镜像与选中的标签属于不同的系列，例如镜像的另一个变体。',
  'The push has the outcome `unchanged` (`image-watcher events`). In the status, the container is `Kept`, with the tag in its message; `Ready` stays True.':
    '推送的结果是 `unchanged`（`image-watcher events`）。在状态中，容器为 `Kept`，消息中有标签；`Ready` 仍为 True。',
  'A container that the policy has never changed runs a tag of another track than the selected one: another variant (`1.0.0-alpine`, where `1.1.0` is selected), another prefix, a tag that another policy follows on this workload, or one that cannot be compared (a commit, a number of builds) and that another policy selects for this container. The policy may be meant for another container.':
    '策略从未修改过的容器运行与选中标签不同系列的标签：另一个变体（选中 `1.1.0` 时的 `1.0.0-alpine`）、另一个前缀，另一个策略在该工作负载上跟随的标签，或者无法比较（提交、构建号）而由另一个策略为该容器选择的标签。该策略可能是为另一个容器写的。',
  'Nothing, if the container is to stay. Otherwise name it in `spec.targets[].containers`, or write `takeOver: true` in the target; for a variant of its own, write a second policy whose `tags.allow` takes that variant.':
    '如果容器应当保持不变，什么都不用做。否则在 `spec.targets[].containers` 中写出它，或在目标中写 `takeOver: true`；如果变体需要自己的更新，请写第二个策略，让它的 `tags.allow` 接受该变体。',
  'What runs is newer than what was pushed.': '正在运行的镜像比推送的新。',
  'The push has the outcome `unchanged` (`image-watcher events`). In the status, the target is `Kept`; `Ready` stays True.':
    '推送的结果是 `unchanged`（`image-watcher events`）。在状态中，目标为 `Kept`；`Ready` 仍为 True。',
  'The workload runs a newer tag than the one that was pushed, by the order of `spec.select`.':
    '按照 `spec.select` 的顺序，工作负载运行的标签比推送的新。',
  'Nothing: image-watcher does not downgrade by itself. To return to an older image, run `image-watcher rollback NS/NAME --to TAG`. With `spec.update.allowDowngrade`, what the policy selects replaces newer images too.':
    '什么都不用做：image-watcher 自己不会降级。要回到较旧的镜像，请运行 `image-watcher rollback NS/NAME --to TAG`。设置了 `spec.update.allowDowngrade` 时，策略选择的镜像也会替换更新的镜像。',
  'The tag moved to another digest, or may have moved, but the policy pins tags only.':
    '标签移到了或可能移到了另一个摘要，但策略只固定标签。',
  'The push has the outcome `unchanged` (`image-watcher events`). The message of `Ready` repeats it if another digest is known.':
    '推送的结果是 `unchanged`（`image-watcher events`）。如果知道另一个摘要，`Ready` 的消息重复它。',
  'A tag that already runs was pushed again with another digest, or is announced with a digest of which it is not known whether it is the one that runs, as of a workload that was started by hand. With `spec.update.pin: Tag`, the workload would contain the same text as before.':
    '已在运行的标签以另一个摘要再次推送，或者通知了一个摘要，而不知道运行的是否是它，例如手动启动的工作负载。使用 `spec.update.pin: Tag` 时，工作负载中的文字会与以前相同。',
  'Push a new tag for each build, or set `spec.update.pin: Digest`, so that the new digest is rolled out. Pods that are created later may run either image, depending on what their node has cached.':
    '为每次构建推送新的标签，或设置 `spec.update.pin: Digest`，让新的摘要滚动更新。之后创建的 Pod 可能运行其中任何一个镜像，取决于其节点缓存了什么。',
  'What runs cannot be compared with the candidates of the policy.': '正在运行的镜像无法与策略的候选比较。',
  '[`Stalled`](#condition-stalled), a Warning Event of the policy; a push has the outcome `stalled`.':
    '[`Stalled`](#condition-stalled)，策略有一个 Warning Event；推送的结果是 `stalled`。',
  'A target runs a tag that the policy does not select and that has no order relative to the selected one, and the policy has already changed something before. So somebody else set this image.':
    '目标运行的标签不被策略选择，也无法与选中的标签排序，而策略以前已经修改过它。因此是别人设置了这个镜像。',
  'Set the image once yourself to a tag that the policy selects (`kubectl set image`), or change `spec.select`. The policy is reconciled again as soon as the workload or the policy changes.':
    '自己把镜像设为策略会选择的标签一次（`kubectl set image`），或修改 `spec.select`。工作负载或策略一有变化，就再次调和该策略。',
  'The image does not have every platform that the policy asks for.': '镜像没有策略要求的所有平台。',
  'The push has the outcome `ignored` for this policy (`image-watcher events`). The conditions do not change. If none of the best ten tags has the platforms, the policy is `Stalled`.':
    '推送对该策略的结果是 `ignored`（`image-watcher events`）。状况不变。如果最好的十个标签都没有这些平台，策略为 `Stalled`。',
  'The image does not have every platform in `spec.platforms`. The message lists what is missing and what the image has.':
    '镜像没有 `spec.platforms` 中的所有平台。消息列出缺少什么，以及镜像有什么。',
  'Build the image for all platforms, and push it again; or remove a platform from `spec.platforms`. Until then the policy uses the next best tag that has them, and its message names the tag that was passed over.':
    '为所有平台构建镜像，并再次推送；或从 `spec.platforms` 中删除一个平台。在此之前，策略使用具有这些平台的次优标签，它的消息指出被跳过的标签。',
  'What the tag points to is no image that can run: a chart, a signature or another artifact.':
    '标签指向的不是可以运行的镜像：而是 chart、签名或其他制品。',
  'The push has the outcome `ignored` for this policy (`image-watcher events`). The conditions do not change. A receiver also ignores pushes that say themselves that they are signatures, attestations or SBOMs. If no tag is an image, the policy is `Stalled`.':
    '推送对该策略的结果是 `ignored`（`image-watcher events`）。状况不变。接收端也会忽略自己说明是签名、证明或 SBOM 的推送。如果没有任何标签是镜像，策略为 `Stalled`。',
  'The policy selects images, and the tag points to a Helm chart, a signature or another artifact that a container cannot run. [Image volumes](targets.md#image-volumes) may use artifacts, as long as no container of the targets runs the same repository.':
    '策略选择镜像，而标签指向容器无法运行的 Helm chart、签名或其他制品。[镜像卷](targets.md#image-volumes)可以使用制品，只要目标中没有容器运行同一个镜像。',
  'Nothing if the repository contains images too: the next best tag that is an image is used. Exclude the tags of artifacts with `spec.tags.ignore`, or push them to a repository of their own. If the policy is meant for them, write the `spec.artifact` that the message names ([charts](charts.md)).':
    '如果该镜像名称下也有镜像，什么都不用做：使用下一个最好的、确实是镜像的标签。用 `spec.tags.ignore` 排除制品的标签，或把它们推送到单独的名称下。如果策略本来就是为它们准备的，写上消息中指出的 `spec.artifact`（[Chart](charts.md)）。',
  'What the tag points to is an artifact of another kind than the policy selects.': '标签指向的制品不是策略所选择的那一种。',
  'The push has the outcome `ignored` for this policy (`image-watcher events`). The conditions do not change. If no tag is what the policy selects, the policy is `Stalled`.':
    '推送对该策略的结果是 `ignored`（`image-watcher events`）。状况不变。如果没有任何标签是策略所选择的，策略为 `Stalled`。',
  'The policy has `spec.artifact: Chart`, and the manifest of the tag is not that of a Helm chart; or it has `spec.artifact: Any`, and the tag is a signature, an attestation or an SBOM, which describe another artifact. The message says what the manifest is.':
    '策略写有 `spec.artifact: Chart`，而标签的清单不是 Helm Chart 的；或写有 `spec.artifact: Any`，而标签是签名、证明或 SBOM，它们描述的是另一个制品。消息说明清单是什么。',
  'Nothing if the repository contains charts too: the next best tag that is one is used. If the policy is meant for what was pushed, write the `spec.artifact` that the message names; without the field, a policy selects images ([charts](charts.md)).':
    '如果该名称下也有 Chart，什么都不用做：使用下一个最好的、确实是 Chart 的标签。如果策略本来就是为推送的内容准备的，写上消息中指出的 `spec.artifact`；没有这个字段时，策略选择镜像（[Chart](charts.md)）。',
  'The registry does not hold the tag that runs any more; it is kept.': '镜像仓库中不再有正在运行的标签；该标签保留。',
  'The condition [`TagGone`](#condition-taggone), a Warning Event of the policy.':
    '状况 [`TagGone`](#condition-taggone)，策略有一个 Warning Event。',
  'A poll found that the registry no longer has the tag that a target runs, and has nothing newer. The running image is not changed.':
    '一次轮询发现，镜像仓库中不再有目标运行的标签，也没有更新的标签。正在运行的镜像不变。',
  'Push the tag again, or push a newer one: a new pod may fail to pull the image. With `spec.update.allowDowngrade`, an older tag replaces it. The condition clears at the next poll after that, or with the next update.':
    '再次推送该标签，或推送更新的标签：新的 Pod 可能无法拉取镜像。设置了 `spec.update.allowDowngrade` 时，由较旧的标签替换它。之后的下一次轮询或下一次更新会消除该状况。',
  'The registry does not hold the announced tag.': '镜像仓库中没有所通知的标签。',
  'A webhook announced a tag, but the registry did not have it 10 s later. It was deleted at once, or image-watcher asks another registry than the one that sent the webhook.':
    'Webhook 通知了一个标签，但 10 秒后镜像仓库中仍没有它。它立即被删除了，或者 image-watcher 查询的不是发送 Webhook 的镜像仓库。',
  'Check that the tag exists, and that the registry in `image-watcher events` is the one that it was pushed to (`receivers[].registry`, `registries[].aliases`). Then run `image-watcher replay ID`. The poll finds the tag as well.':
    '检查标签是否存在，以及 `image-watcher events` 中的镜像仓库是否就是推送到的镜像仓库（`receivers[].registry`、`registries[].aliases`）。然后运行 `image-watcher replay ID`。轮询也会找到该标签。',
  'The configuration does not select the namespace.': '配置没有选择该命名空间。',
  'A push has the outcome `ignored` for the policy; `image-watcher explain NS/NAME` with the configuration as `--config` says it, and so does `image-watcher check NS/NAME --server URL`; `Ready` is False and `Stalled` is True if it is about a target in another namespace.':
    '推送对该策略的结果是 `ignored`；以配置作为 `--config` 的 `image-watcher explain NS/NAME` 会说明，`image-watcher check NS/NAME --server URL` 也会；如果涉及另一个命名空间中的目标，`Ready` 为 False，`Stalled` 为 True。',
  'The labels of the Namespace do not match `watch.namespaceSelector` of the configuration. Nothing is written to policies there: another installation may be responsible for them.':
    'Namespace 的标签（label）不匹配配置中的 `watch.namespaceSelector`。不会向那里的策略写入任何内容：可能由另一个安装负责它们。',
  'Label the Namespace as the selector asks for, or change the selector. The policies are then reconciled at once, without a restart; pushes need not be replayed.':
    '按选择算符的要求给 Namespace 加上标签（label），或修改选择算符。之后立即调和这些策略，不需要重启；不必重放推送。',
  'The policy was deleted before it was reconciled.': '策略在调和之前被删除。',
  'The policy was deleted, or deleted and created again, between the push and the reconcile.':
    '在推送和调和之间，策略被删除，或者被删除后重新创建。',
  'Nothing. A policy that was created again is reconciled by itself.': '什么都不用做。重新创建的策略会自动调和。',
  'The policy is suspended by its spec.': '策略由它的 spec 挂起。',
  '`Ready` is True; a push has the outcome `suspended`.': '`Ready` 为 True；推送的结果是 `suspended`。',
  '`spec.suspend` is true. The registry is not asked, and no workload is changed.':
    '`spec.suspend` 为 true。不查询镜像仓库，也不修改工作负载。',
  'Run `image-watcher resume NS/NAME`. The policy then selects from what the registry has at that time; pushes need not be replayed.':
    '运行 `image-watcher resume NS/NAME`。之后策略从镜像仓库当时的内容中选择；不必重放推送。',
};
