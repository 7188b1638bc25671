/** What the Chinese pages say instead of the descriptions and messages of the code and the comments of the samples. */
import { documentation } from '../../src/core/model/reasons.ts';
import { chineseAlongside } from './zh-CN-alongside.ts';
import { chineseApprovals } from './zh-CN-approvals.ts';
import { chineseEnvironments } from './zh-CN-environments.ts';
import { chineseBaseImages } from './zh-CN-base-images.ts';
import { chineseChecks } from './zh-CN-checks.ts';
import { chineseNotifications } from './zh-CN-notifications.ts';
import { chineseVulnerabilities } from './zh-CN-vulnerabilities.ts';

const duration = '时长以 h、m 和 s 为单位，最长 8784h，例如 "90s"、"1h30m"。';
const path = '路径的写法如 "spec.values.image.tag"。';

/** By the English text. A text without a translation fails `npm run generate`. */
export const chinese: Readonly<Record<string, string>> = {
  ...chineseAlongside,
  ...chineseApprovals,
  ...chineseEnvironments,
  ...chineseChecks,
  ...chineseVulnerabilities,
  ...chineseBaseImages,
  ...chineseNotifications,
  // spec
  'Which image to watch, how to choose its tag, and which workloads to update.': '监视哪个镜像、如何选择它的标签，以及更新哪些工作负载。',
  'select.digest with update.pin: Tag would never change anything: remove pin, or write Digest':
    'select.digest 与 update.pin: Tag 同时使用时永远不会修改任何内容：请删除 pin，或写成 Digest',
  'Image repository without a tag, such as "harbor.example.com/shop/web" or "library/nginx" (Docker Hub).':
    '镜像的名称，不带标签，例如 "harbor.example.com/shop/web" 或 "library/nginx"（Docker Hub）。',
  'What is selected in the repository, as the manifest of each tag shows: by default images that can run. Chart: OCI Helm charts. Any: everything but signatures, attestations and SBOMs. With Chart and Any, each target names fields.':
    '在仓库中选择什么，由每个标签的清单决定：默认是可以运行的镜像。Chart：OCI Helm Chart。Any：除签名、证明和 SBOM 以外的一切。使用 Chart 和 Any 时，每个目标都要写 fields。',
  'write only the repository, without a tag or digest: select chooses the tag': '只写镜像名称，不写标签和摘要：标签由 select 选择',
  'an image name is in lower case and has no scheme, such as "harbor.example.com/shop/web"':
    '镜像名称使用小写字母，不带协议前缀，例如 "harbor.example.com/shop/web"',
  'How the tag is chosen among the candidates: exactly one of semver, digest, newest, alphabetical, numerical, replace.':
    '如何从候选标签中选择：semver、digest、newest、alphabetical、numerical、replace 中恰好一个。',
  'How the tag is chosen among the candidates: exactly one of semver, digest, newest, alphabetical, numerical, replace, proven.':
    '如何从候选标签中选择：semver、digest、newest、alphabetical、numerical、replace、proven 中恰好一个。',
  'Replaces one tag by another one; containers that run any other tag stay as they are. BaseImagePolicies use it for rebased images.':
    '用一个标签替换另一个标签；运行其他标签的容器保持不变。BaseImagePolicy 用它部署变基后的镜像。',
  'The tag that is replaced, such as "1.4.2".': '被替换的标签，例如 "1.4.2"。',
  'The tag that replaces it, such as "1.4.2-base.20261123".': '替换它的标签，例如 "1.4.2-base.20261123"。',
  'write two different tags': '请写两个不同的标签',
  'write exactly one of semver, digest, newest, alphabetical, numerical, replace; for example "semver: {}"':
    '请在 semver、digest、newest、alphabetical、numerical、replace 中恰好写一个，例如 "semver: {}"',
  'write exactly one of semver, digest, newest, alphabetical, numerical, replace, proven; for example "semver: {}"':
    '请在 semver、digest、newest、alphabetical、numerical、replace、proven 中恰好写一个，例如 "semver: {}"',
  'The highest semantic version (semver.org) in a range. A leading "v" is allowed; nothing is coerced: "1.2" is not a version.':
    '范围内最高的语义化版本（semver.org）。允许以 "v" 开头；不做任何补全："1.2" 不是版本。',
  'A range in npm syntax, such as "1.18.*" or ">=1.4 <2" (or ">=1.4, <2"); by default the highest stable version is selected.':
    'npm 语法的版本范围，例如 "1.18.*" 或 ">=1.4 <2"（也可写成 ">=1.4, <2"）；默认选择最高的稳定版本。',
  'Whether prereleases of every version in the range are candidates. Without it only those of a version whose prerelease the range names: ">=1.3.0-rc.1" admits 1.3.0-rc.2, but not 1.4.0-rc.1.':
    '范围内所有版本的预发布版本是否都作为候选。不设置时，只有范围中写出预发布号的那个版本才算：">=1.3.0-rc.1" 允许 1.3.0-rc.2，但不允许 1.4.0-rc.1。',
  'Follows one mutable tag: the image that it points to is selected.': '跟随一个可变标签：选择它所指向的镜像。',
  'The mutable tag, such as "latest" or "main".': '可变标签，例如 "latest" 或 "main"。',
  'The image that was created last, by its own creation time.': '按镜像自身的创建时间，选择最后创建的镜像。',
  'The last tag in the order of characters, for dates and timestamps of a fixed width.':
    '按字符顺序排在最后的标签，适用于宽度固定的日期和时间戳。',
  'The greatest tag by number, for build numbers and timestamps.': '数值最大的标签，适用于构建号和时间戳。',
  'Which tags are candidates, before one of them is chosen. A pattern may compile to 1,000 instructions, all patterns of a policy to 2,000 together; "[a-z]{1,128}" is 257.':
    '在选择之前，哪些标签可以作为候选。每个正则表达式编译后最多 1,000 条指令，一个策略的所有正则表达式合计最多 2,000 条；"[a-z]{1,128}" 是 257 条。',
  'extract takes its groups from allow: write allow as well, such as "^v(?P<version>.*)$" with extract "$version"':
    'extract 使用 allow 中的分组：请同时写 allow，例如 "^v(?P<version>.*)$" 配合 extract "$version"',
  'An RE2 expression that must match the whole tag; named groups can be used in extract.':
    'RE2 正则表达式，必须匹配整个标签；其中的命名分组可以用在 extract 中。',
  'write repetition counts of at most 128, the length of the longest tag': '重复次数最多写 128，即标签的最大长度',
  'The part of the tag that is compared: "$version" is the group "version" of allow. By default the whole tag.':
    '标签中用来比较的部分："$version" 是 allow 中名为 "version" 的分组。默认为整个标签。',
  'RE2 expressions; a tag in which one of them is found is not a candidate.':
    'RE2 正则表达式；标签的任何部分与其中之一匹配时，就不是候选。',
  'The platforms that the image must have: all of them.': '镜像必须支持的平台：全部都要支持。',
  'How long a digest must have been known before it is applied, counted from when it was first seen. A duration in h, m and s, at most 8784h: "90s", "1h30m".': `摘要从首次发现起，要经过多久才会应用。${duration}`,
  'write a duration longer than zero and at most 8784h, such as "30m"': '请写一个大于零且不超过 8784h 的时长，例如 "30m"',
  'Secrets in the namespace of the policy with the credentials for the registry.': '策略所在命名空间中的 Secret，包含访问镜像仓库的凭据。',
  'Name of the Secret.': 'Secret 的名称。',
  'The workloads that are kept up to date.': '要保持最新的工作负载。',
  'API version of a custom resource, such as "argoproj.io/v1alpha1"; not needed for the kinds of Kubernetes itself.':
    '定制资源的 API 版本，例如 "argoproj.io/v1alpha1"；Kubernetes 自带的类别不需要写。',
  'Kind of the workload: Deployment, StatefulSet, DaemonSet, CronJob, or that of a custom resource.':
    '工作负载的类别：Deployment、StatefulSet、DaemonSet、CronJob，或者定制资源的类别。',
  'Name of the workload.': '工作负载的名称。',
  'Selects workloads of the kind by their labels, in one namespace.': '在一个命名空间中，按标签（label）选择该类别的工作负载。',
  'an empty selector would select everything: write matchLabels or matchExpressions':
    '空的选择算符会选中所有对象：请写 matchLabels 或 matchExpressions',
  'Labels that the workload must have, each with its value.': '工作负载必须带有的标签（label）及其取值。',
  'Requirements that the labels must meet: all of them.': '标签（label）必须满足的要求：全部都要满足。',
  'The name of the label.': '标签（label）的名称。',
  'How the values are compared.': '如何比较取值。',
  'Values for In and NotIn.': '用于 In 和 NotIn 的取值。',
  "Namespace of the workload; by default the policy's own. Another one needs the consent of its owners.":
    '工作负载所在的命名空间；默认是策略自己的命名空间。其他命名空间需要其所有者同意。',
  'Only these containers; by default all that run the image.': '只更新这些容器；默认更新所有运行该镜像的容器。',
  'Whether init containers that run the image are updated as well.': '是否也更新运行该镜像的 Init 容器。',
  'Whether volumes that hold the image (`volumes[].image.reference`) are updated as well, whatever `containers` names; by default they are not.':
    '是否也更新挂载该镜像的卷（`volumes[].image.reference`），与 `containers` 的内容无关；默认不更新。',
  'For custom resources without a pod template: the fields that are written.': '对于没有 Pod 模板的定制资源：要写入的字段。',
  'write either image, for a field with the whole reference, or tag and digest where they have fields of their own':
    '如果一个字段包含完整的镜像引用，请写 image；如果标签和摘要各有自己的字段，请写 tag 和 digest',
  'image holds the repository already: remove repository, or write tag instead of image':
    'image 已经包含镜像名称：请删除 repository，或者用 tag 代替 image',
  'The field that holds the whole image reference. A path such as "spec.values.image.tag".': `包含完整镜像引用的字段。${path}`,
  'The field that holds the repository; by default the one that belongs to the field of the tag. A path such as "spec.values.image.tag".': `包含镜像名称的字段；默认是与标签字段对应的那个字段。${path}`,
  'The field that holds the tag. A path such as "spec.values.image.tag".': `包含标签的字段。${path}`,
  'The field that holds the digest. A path such as "spec.values.image.tag".': `包含摘要的字段。${path}`,
  'How a selected image reaches the workloads.': '选中的镜像如何应用到工作负载。',
  'Automatic: changes workloads. Approval: changes them when somebody approves the digest. DryRun: only reports what it would change.':
    'Automatic：修改工作负载。Approval：有人批准摘要之后才修改。DryRun：只报告会修改什么。',
  'The form in which the image is written: Tag is repository:tag, Digest is repository:tag@sha256:…. By default Tag, but Digest with select.digest, select.proven, after or verify.':
    '镜像的写法：Tag 是 repository:tag，Digest 是 repository:tag@sha256:…。默认为 Tag；使用 select.digest、select.proven、after 或 verify 时默认为 Digest。',
  'Whether an older tag may replace a newer one.': '是否允许较旧的标签替换较新的标签。',
  'When workloads may be changed; by default always. An update that is found outside of the windows waits for the next one.':
    '什么时候可以修改工作负载；默认随时可以。在窗口之外发现的更新会等到下一个窗口。',
  'The days on which the window opens; by default every day.': '窗口在一周中的哪几天打开；默认每天。',
  'When it opens. HH:MM in the time zone of the window.': '打开的时间，按窗口的时区写成 HH:MM。',
  'When it closes; earlier than "from" means on the next day. HH:MM in the time zone of the window.':
    '关闭的时间，按窗口的时区写成 HH:MM；早于 "from" 时表示次日。',
  'IANA time zone, such as "Europe/Berlin".': 'IANA 时区，例如 "Asia/Shanghai"。',
  'What happens after a workload was changed. Without it, the rollout is watched for 10m, and a failure is only reported.':
    '修改工作负载之后做什么。不写时观察滚动更新 10m，失败时只报告。',
  'Whether the rollout is watched until it is complete or has failed.': '是否观察滚动更新，直到完成或失败。',
  'How long a rollout may take, and each of its new pods; time in which it cannot proceed does not count. A duration in h, m and s, at most 8784h: "90s", "1h30m".': `一次滚动更新以及其中每个新 Pod 最多可以用多久；无法推进的时间不计算在内。${duration}`,
  'Rollback: the workload is rolled back to the previous image. Hold: nothing more is changed. Ignore: the failure is only reported.':
    'Rollback：把工作负载回滚到上一个镜像。Hold：不再做任何修改。Ignore：只报告失败。',
  'The maximum number of workloads that are patched at the same time; their rollouts may overlap.':
    '同时修改的工作负载的最大数量；它们的滚动更新可以重叠。',
  'What an image must satisfy before it is applied: all that is written.': '镜像在应用之前必须满足的条件：写出的全部条件。',
  "Helm's provenance of a chart (`helm package --sign`), by one of the keys. Needs `artifact: Chart`.":
    'Helm Chart 的 provenance（`helm package --sign`），由其中一个密钥签署。需要 `artifact: Chart`。',
  'Public keys; a provenance by one of them is enough.': '公钥；由其中一个密钥签署的 provenance 就足够。',
  'The Secret that holds public keys of OpenPGP in ASCII form.': '以 ASCII 形式保存 OpenPGP 公钥的 Secret。',
  'A cosign signature, by one of the keys or one of the keyless signers.': 'cosign 签名，由其中一个密钥或其中一个无密钥签名者签署。',
  'write keys, keyless or both': '请写 keys、keyless，或两者都写',
  'Public keys; a signature by one of them is enough.': '公钥；有其中一个的签名即可。',
  'The Secret that holds the public key.': '保存公钥的 Secret。',
  'Name of the Secret, in the namespace of the policy.': 'Secret 的名称，位于策略所在的命名空间。',
  'Key in the Secret.': 'Secret 中的键。',
  'Signers without a key, by their identity; a signature by one of them is enough. Needs verification.trustRootFile in the configuration.':
    '不使用密钥、以身份识别的签名者；有其中一个的签名即可。需要在配置中设置 verification.trustRootFile。',
  'The issuer of the OIDC token that proved the identity, such as "https://token.actions.githubusercontent.com".':
    '证明身份的 OIDC 令牌的签发者，例如 "https://token.actions.githubusercontent.com"。',
  'The identity as it is in the certificate: an e-mail address or a URL.': '证书中的身份：电子邮件地址或 URL。',
  'An RE2 expression that must match the whole identity, such as "https://github\\.com/shop/web/\\.github/workflows/release\\.yml@refs/tags/.*".':
    'RE2 正则表达式，必须匹配整个身份，例如 "https://github\\.com/shop/web/\\.github/workflows/release\\.yml@refs/tags/.*"。',
  'Polling, the fallback for webhooks that do not arrive.': '轮询，用于弥补没有送达的 Webhook。',
  'How often the registry is polled for images that no webhook announced; by default poll.interval of the configuration. A duration in h, m and s, at most 8784h: "90s", "1h30m".': `隔多久轮询一次镜像仓库，以发现没有 Webhook 通知的镜像；默认为配置中的 poll.interval。${duration}`,
  'Whether the policy is suspended: while true, nothing is checked or changed.': '策略是否挂起：为 true 时不做任何检查和修改。',

  // status
  'What the service found and did.': '服务发现了什么、做了什么。',
  'The generation of the policy for which all tags were last evaluated.': '最近一次评估所有标签时策略的 generation。',
  'Ready, and Reconciling, Stalled and others while they are true.': 'Ready，以及成立期间的 Reconciling、Stalled 等状况。',
  'Ready, which is always present, or Reconciling, Stalled and others while they are true.':
    '始终存在的 Ready，或成立期间的 Reconciling、Stalled 等。',
  'Whether the condition holds.': '状况是否成立。',
  [`The reason, as a stable word for programs; ${documentation}/reasons.md explains each.`]: `原因，供程序使用的固定单词；每个原因的说明见 ${documentation}/reasons.md。`,
  'The state and what to do about it, for people.': '供人阅读：当前的状态，以及应当怎么做。',
  'When the status of the condition last changed.': '状况的 status 最近一次变化的时间。',
  'The generation of the policy that the condition describes.': '状况所描述的策略的 generation。',
  'The image that the policy selects.': '策略选择的镜像。',
  'The selected tag.': '选中的标签。',
  'The digest that the tag pointed to.': '标签当时指向的摘要。',
  'When the image was created, according to its own metadata; set with select.newest.':
    '镜像自身的元数据中的创建时间；使用 select.newest 时才有。',
  'When the policy first selected it.': '策略首次选中它的时间。',
  'The cause of the last reconcile that changed something or found something new.': '最近一次有修改或有新发现的调谐的起因。',
  'What caused the reconcile.': '调谐的起因。',
  'The receiver that accepted the webhook.': '接受该 Webhook 的接收端。',
  'The id of the event, for "image-watcher events".': '事件的 id，用于 "image-watcher events"。',
  'When the service received or noticed it.': '服务收到或察觉它的时间。',
  'When the reconcile that it caused ended.': '由它引起的调谐结束的时间。',
  'When the registry was last asked for this policy.': '最近一次为该策略查询镜像仓库的时间。',
  'The value of the annotation requested-at that was last handled.': '最近一次处理的注解 requested-at 的值。',
  'The value of the annotation rollback-to that was last handled.': '最近一次处理的注解 rollback-to 的值。',
  'Why the rollback that was last handled changed nothing; absent if it changed something.':
    '最近一次处理的回滚为什么没有改变任何内容；如果改变了内容，则没有此字段。',
  'The rollback that is under way: what was asked for, and the image that this meant when it began.':
    '正在进行的回滚：所请求的内容，以及回滚开始时它所指的镜像。',
  'The value of the annotation rollback-to.': '注解 rollback-to 的值。',
  'The tag that is brought back.': '恢复的标签。',
  'The digest that is brought back.': '恢复的摘要。',
  'A selected image that is not applied before a time, or a retry.': '在某个时间之前不会应用的选中镜像，或一次重试。',
  'The tag of the image that waits.': '正在等待的镜像的标签。',
  'The digest of the image that waits.': '正在等待的镜像的摘要。',
  'When the wait began: for minAge, when the digest was first seen.': '开始等待的时间：对于 minAge，是首次发现该摘要的时间。',
  'When the policy is reconciled again.': '再次对策略进行调谐的时间。',
  'The reason, as a stable word for programs.': '原因，供程序使用的固定单词。',
  'What the targets run, as "kubectl get" shows it: the tag that most containers run, and the number of other tags: "1.4.2,+1".':
    '更新目标运行的内容，与 "kubectl get" 显示的相同：多数容器运行的标签，以及其他标签的数量："1.4.2,+1"。',
  'What the targets run: the first 20 containers.': '更新目标运行的内容：前 20 个容器。',
  'API version of the workload; only of custom resources.': '工作负载的 API 版本；只有定制资源才有。',
  'Kind of the workload.': '工作负载的类别。',
  'Namespace of the workload.': '工作负载所在的命名空间。',
  'UID of the workload, which distinguishes it from a later one of the same name.': '工作负载的 UID，用来与之后的同名对象区分。',
  'The container, or "volumes/NAME" for an image volume; absent if no container runs the image.':
    '容器，镜像卷则为 "volumes/NAME"；没有容器运行该镜像时不存在。',
  'The image that it runs.': '它运行的镜像。',
  'UpToDate: the selected image runs. Kept: another image runs, for the reason beside it. Problem: the target cannot be updated.':
    'UpToDate：运行选中的镜像。Kept：运行另一个镜像，原因在旁。Problem：无法更新该目标。',
  'Why it is in this state, for people.': '供人阅读：为什么处于这种状态。',
  'Counts of containers; the list of targets has only the first 20.': '容器的数量；目标列表只包含前 20 个。',
  'All containers of the targets.': '更新目标的所有容器。',
  'Those that run the selected image.': '运行选中镜像的容器。',
  'Those that cannot be updated.': '无法更新的容器。',
  'An application that is to leave its Alpine variant: its containers run 1.4.2-alpine, and the policy selects 1.x without a variant. Without takeOver, a container that runs a tag of another track is left alone: the policy may be meant for another one.':
    '一个要离开 Alpine 变体的应用：它的容器运行 1.4.2-alpine，策略选择不带变体的 1.x。没有 takeOver 时，运行其他系列标签的容器保持不变：该策略可能是为另一个容器准备的。',
  'Whether the first change also replaces tags of another track, such as `1.0.0-alpine` by `1.1.0`, or a tag that another policy follows; by default only in containers that `containers` names.':
    '首次更改时是否也替换属于另一系列的标签（例如用 `1.1.0` 替换 `1.0.0-alpine`）或另一策略所跟随的标签；默认只在 `containers` 指定的容器中替换。',
  'A hash of what the containers run that the list of targets has no place for, so that their changes are noticed.':
    '目标列表容纳不下的容器所运行镜像的哈希值，用于发现它们的变化。',
  'Counts of the workloads that run what the policy applied; the history has only the last 10 changes.':
    '运行策略所应用镜像的工作负载的数量；历史记录只包含最近 10 次修改。',
  'Those whose rollout is under way.': '正在滚动更新的工作负载。',
  'Those whose rollout is complete.': '滚动更新已完成的工作负载。',
  'Those whose rollout failed, and which still run the failed image.': '滚动更新失败、仍在运行失败镜像的工作负载。',
  'Those that were rolled back to an older image.': '已回滚到较旧镜像的工作负载。',
  'One policy for all workloads of a tier, changed in waves: canaries first, then five at a time, with a quarter of an hour between two waves. At the first failed rollout nothing more is changed, and what failed is rolled back.':
    '一个策略对应一层的所有工作负载，分批修改：先是金丝雀，然后每次五个，两批之间间隔一刻钟。第一次滚动更新失败后不再修改其他工作负载，并回滚失败的工作负载。',
  'waves need to know which rollouts fail: write onFailure: Rollback or Hold, and no watch: false':
    'waves 需要知道哪些滚动更新失败：写 onFailure: Rollback 或 Hold，并且不要写 watch: false',
  'When the last rollout was complete; only with rollout.waves.': '上一次滚动更新完成的时间；仅在使用 rollout.waves 时。',
  'Changes up to this time are complete: what happens to their workloads later is not part of a rollout.':
    '到此时间为止的修改都已完成：之后其工作负载发生的事不再属于滚动更新。',
  'The tag that was applied last; also set for policies that were updated before there was a history.':
    '最近应用的标签；在有历史记录之前更新过的策略也有。',
  'The last 3 changes, the latest first; those before them are in earlierChanges.':
    '最近 3 次修改，最新的在前；更早的修改在 earlierChanges 中。',
  "The changes before those of the history, the latest first, up to 10 in all: jq '.status.earlierChanges[] | fromjson'.":
    "history 之前的修改，最新的在前，总共最多 10 次：jq '.status.earlierChanges[] | fromjson'。",
  'The container, or "volumes/NAME" for an image volume.': '容器，镜像卷则为 "volumes/NAME"。',
  'The previous image; absent if unknown, because the change was found afterwards.':
    '之前的镜像；如果修改是事后发现的，之前的镜像未知，则不存在。',
  'The new image.': '新的镜像。',
  'The tag that was applied.': '应用的标签。',
  'The digest that was applied.': '应用的摘要。',
  'When the container was changed.': '修改容器的时间。',
  'Applied: the rollout has no result yet. RolledOut: it succeeded. RolledBack: the container was rolled back to an older image. Failed: the rollout failed.':
    'Applied：滚动更新还没有结果。RolledOut：成功。RolledBack：容器已回滚到较旧的镜像。Failed：滚动更新失败。',
  'Why the rollout failed.': '滚动更新失败的原因。',
  'What the failure speaks against. image: its digest is rejected. registry, cluster, configuration: it is tried again. unknown: nothing was reported, and it is tried again.':
    '失败归咎于什么。image：其摘要被拒绝。registry、cluster、configuration：会再次尝试。unknown：没有任何报告，会再次尝试。',
  'What the pod or the controller reported.': 'Pod 或控制器报告的内容。',
  'Why the failed change is not rolled back.': '失败的修改为什么没有回滚。',
  'The explanation, for people.': '供人阅读的说明。',
  'When that was found.': '发现的时间。',
  'The last 10 images that failed or were rejected, the latest first.': '最近失败或被拒绝的 10 个镜像，最新的在前。',
  'The value of the annotation reject that was last handled.': '最近一次处理的注解 reject 的值。',
  'The digest that is not applied again.': '不会再次应用的摘要。',
  'The tag that pointed to it.': '当时指向它的标签。',
  'When it was rejected.': '被拒绝的时间。',
  'The last 10 changes that a GitOps tool reverted, the latest first.': '最近被 GitOps 工具还原的 10 次修改，最新的在前。',
  'The tag that was reverted.': '被还原的标签。',
  'The digest that was reverted.': '被还原的摘要。',
  'How often it was reverted; after the second time it is not applied again.': '被还原的次数；第二次之后不再应用。',
  'When the last revert was found.': '发现最近一次还原的时间。',
  'The image that waits for approval.': '等待批准的镜像。',
  'The image that the policy is Stalled because of: it is not signed as verify demands.':
    '使策略停滞（Stalled）的镜像：它没有 verify 所要求的签名。',
  'The push of the image that is selected or waits, where another cause had found the image before the push was announced; or of one that is not evaluated yet, because another one waits for its age or the policy is suspended.':
    '所选中或正在等待的镜像的推送，其中镜像在推送被通知之前已被其他原因发现；或者是尚未评估的镜像的推送，因为另一个镜像在等待其最短存在时间，或策略已暂停。',
  'The tag that waits for approval.': '等待批准的标签。',
  'The digest that waits for approval.': '等待批准的摘要。',

  // v1alpha1
  'Which image to watch, how to choose its tag, and which workload to update.': '监视哪个镜像、如何选择它的标签，以及更新哪个工作负载。',
  'write only the repository, without a tag or digest: tagPolicy chooses the tag': '只写镜像名称，不写标签和摘要：标签由 tagPolicy 选择',
  'How the tag is chosen.': '如何选择标签。',
  'SemVer: the highest version. Latest: the mutable tag "latest", followed by its digest. Regex: the alphabetically last tag that matches the pattern.':
    'SemVer：最高的版本。Latest：按摘要跟随可变标签 "latest"。Regex：与正则表达式匹配、按字母顺序排在最后的标签。',
  'SemVer: a range such as "1.18.*" or ">=1.2 <2"; by default the highest stable version is selected. Regex: an RE2 expression that must match the whole tag.':
    'SemVer：版本范围，例如 "1.18.*" 或 ">=1.2 <2"；默认选择最高的稳定版本。Regex：RE2 正则表达式，必须匹配整个标签。',
  'The workload whose containers of this repository are kept up to date.': '工作负载，其中运行该镜像的容器会保持最新。',
  'Kind of the workload: Deployment.': '工作负载的类别：Deployment。',
  'How often the registry is polled for tags that no webhook announced, in minutes.':
    '隔多少分钟轮询一次镜像仓库，以发现没有 Webhook 通知的标签。',
  'The complete status of v1: read the policy as v1 instead.': 'v1 的完整状态：请改为以 v1 读取策略。',

  // crd/samples
  'No change without approval: an update is shown in the status and waits until somebody approves its digest. Then it waits for the next window: from Monday to Thursday during the day, or in the night to Saturday.':
    '未经批准不做修改：更新显示在状态中，等到有人批准它的摘要；然后等待下一个窗口：周一至周四的白天，或周五夜间到周六。',
  'An image that many workloads share: every workload with the label is updated, including workloads that are created later. Workloads in another namespace need the consent of its owners: the annotation operator.technomad.dev/allow-policies-from on them or the Namespace.':
    '许多工作负载共用的镜像：更新所有带有该标签（label）的工作负载，包括以后创建的。其他命名空间中的工作负载需要其所有者同意：在工作负载或其 Namespace 上添加注解 operator.technomad.dev/allow-policies-from。',
  'Build numbers: main-1002 is newer than main-981, although it comes first in alphabetical order.':
    '构建号：main-1002 比 main-981 新，尽管按字母顺序它排在前面。',
  'Shows what a policy would do: it selects and reports, and changes nothing. With allowDowngrade, an older version may replace a newer one; by default it never does.':
    '显示策略会做什么：只选择和报告，不做任何修改。设置 allowDowngrade 后，较旧的版本可以替换较新的版本；默认绝不会。',
  'A Helm chart in an OCI registry instead of an image: each pushed version reaches the Application of Argo CD that installs the chart.':
    'OCI 仓库中的 Helm Chart 而不是镜像：推送的每个版本都会到达安装该 Chart 的 Argo CD Application。',
  'Fields of a custom resource instead of containers: the values of a Flux HelmRelease, whose chart has one field for the tag and one for the digest.':
    '更新定制资源的字段而不是容器：Flux HelmRelease 的 values，其 Chart 用一个字段表示标签，用另一个字段表示摘要。',
  "A model that a server mounts as an image volume: pushes of models/llama update the volume, and the server's own container is not changed. An OCI artifact works too, if the container runtime can mount one.":
    '服务器以镜像卷挂载的模型：推送 models/llama 会更新该卷，服务器自己的容器不变。如果容器运行时可以挂载，OCI 制品也可以。',
  'Only images that our release workflow or a person on call has signed, without a key: the certificate of the signature names the signer. As always with verify, the digest is written, so that exactly the verified image runs.':
    '只接受由我们的发布工作流或值班人员以无密钥方式签名的镜像：签名的证书写明签名者。与所有使用 verify 的策略一样，写入的是摘要，所以运行的正是经过验证的镜像。',
  'Follows a mutable tag, such as the last build of the main branch. The workload is pinned to the digest behind the tag (repository:tag@sha256:…), so a tag that was pushed again is a visible change that can be rolled back.':
    '跟随一个可变标签，例如主分支的最新构建。工作负载固定到标签背后的摘要（repository:tag@sha256:…），所以标签移动是看得见、可以回滚的修改。',
  'Images of the main branch, whose tags contain commit ids: selects the image that was created last. The tag names determine only which images are candidates.':
    '主分支的镜像，标签中包含提交 id：选择最后创建的镜像。标签的名称只决定哪些镜像是候选。',
  'A private registry that sends no webhooks: the policy names the credentials and polls every ten minutes. It is suspended: nothing is checked or changed until suspend is false.':
    '不发送 Webhook 的私有镜像仓库：策略写明凭据，每十分钟轮询一次。它处于挂起状态：在 suspend 改为 false 之前，不做任何检查和修改。',
  'The most common policy: releases of one application, within a version range. Pushing 1.5.0 updates the Deployment; 2.0.0 and 1.6.0-rc.1 do not.':
    '最常见的策略：一个应用在某个版本范围内的发布。推送 1.5.0 会更新 Deployment；2.0.0 和 1.6.0-rc.1 不会。',
  'One image in several workloads: an application, its worker with a sidecar that must not be changed, and a job that runs at night. One push changes all of them, two at a time. Init containers are changed only on request.':
    '一个镜像用于多个工作负载：应用本身、带有不可修改的边车容器的 worker，以及夜间运行的任务。一次推送修改所有这些工作负载，每次两个。只有明确要求时才修改 Init 容器。',
  'Waits before an update: an image is used when its digest has been known for two hours and the image supports both platforms of the nodes.':
    '更新之前先等待：摘要首次发现后满两小时，并且镜像支持节点的两种平台，才使用该镜像。',
  'Tags with their own scheme, such as v1.4.2-prod: allow defines which tags are candidates (RE2, the whole tag), and extract which part of them is compared. v1.4.2-staging and v1.4.2-prod-debug are not candidates.':
    '有自己格式的标签，例如 v1.4.2-prod：allow 定义哪些标签是候选（RE2，匹配整个标签），extract 定义比较其中的哪一部分。v1.4.2-staging 和 v1.4.2-prod-debug 不是候选。',
  'The older version of the resource, which keeps working unchanged: the highest stable version for one Deployment. Write new policies in v1.':
    '资源的旧版本，继续有效，无须修改：一个 Deployment 使用最高的稳定版本。新的策略请用 v1 编写。',
  'Only images that are signed with our key, written with their digest, so that exactly the verified image runs. The rollout is watched. If it fails, the image stays, its digest is rejected, and nothing is changed until a newer image is pushed.':
    '只接受用我们的密钥签名的镜像，并写入摘要，所以运行的正是经过验证的镜像。会观察滚动更新；如果失败，镜像保持不变，其摘要被拒绝，在推送较新的镜像之前不再做任何修改。',
};
