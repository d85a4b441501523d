"""The sentences of the methods paragraph in Japanese. Parts in braces; the names are those of `english`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

LANGUAGE = "ja"
SEPARATOR = ""
# Without and with a revision.
MODEL = ("{name}", "{name}（リビジョン {revision}）")
LABELLED = ("{label}（{name}）", "{label}（{name}，リビジョン {revision}）")
WITH_CITATION = "{name} {cite}"
# At the beginning of a sentence that is not of all models.
OF_MODELS = "{models} については，"

SENTENCES: Mapping[str, str] = {
    "data": "{dataset} の{items} {n} 件を用いて，{models} を評価した．",
    "unusable": "ファイルのうち利用できない {n} 行は，あらかじめ除外した．",
    "excluded": "モデルが処理できない事例はそのモデルの評価から除外し（計 {n} 件），理由とともに一覧を示す．",
    "computed": "{whom}モデルの計算は {dtype} で行い，PyTorch {torch} と Transformers {transformers} {cite} を用いた．",
    "served": "{whom} の計算はサーバー（モデル {model}，ソフトウェア {version}）がその精度で行った．",
    "served without version": "{whom} の計算はサーバー（モデル {model}，ソフトウェアの版は不明）がその精度で行った．",
    "from a file": "{whom} の対数尤度は本ツールで計算したものではなく，ファイル {file}（{form}）から読み込んだ．",
    "vectors from a file": "{whom} の文ベクトルは本ツールで計算したものではなく，ファイル {file}（{form}）から読み込んだ．",
    "tool": "数値はすべて Hakari {version} で算出した（シグネチャ {signature}）．",
    "vectors": "{whom}文の表現には，隠れ層 {layer}（0 は埋め込み層）から得た{pooling}を用いた．",
    "published vectors": "{whom}文の表現には，モデルとともに公開されている方法（{how}）により隠れ層 {layer}"
    "（0 は埋め込み層）から得た文ベクトルを用い，"
    "sentence-transformers {cite} と同じ手順で計算した．",
    "prompt": "{whom}文ベクトルの計算では，各テキストの先頭にプロンプト「{prompt}」を付した．",
    "truncated": "{whom}ベクトルは先頭の {n} 次元のみを用いた．",
    "normalised": "テキストには前処理として正規化（{steps}）を施した．",
    "whitened": "{whom}文ベクトルには，指標を求める前に白色化 {cite} を施した（全文の主成分のうち上位 {n} 個を"
    "それぞれの標準偏差で割ったもの）．",
    "components removed": "文ベクトルからは，指標を求める前に平均と上位の主成分を取り除いた {cite}（主成分 {n} 個）．",
    "usual components removed": "文ベクトルからは，指標を求める前に平均と上位の主成分を取り除いた {cite}"
    "（主成分の数は次元数の 100 分の 1，少なくとも 1 個）．",
    "centred": "配置図と最近傍では，ベクトルから平均を引いた．",
    "dispersions": "芝山ら {cite} に従い，クラス内分散 A_m（各文ベクトルと所属クラスの重心との距離の二乗和），"
    "クラス間分散 B_m（各クラスの重心と重心全体の平均との距離の二乗和），"
    "およびスコア M_m = A_m / B_m を求めた．M_m は小さいほど，クラスがよく分離されていることを示す．",
    "lone classes": "文を 1 つしか含まないクラスは除外した．",
    "cluster intervals": "信頼区間は，各クラス内で文を復元抽出するブートストラップ {cite} による 95% パーセンタイル区"
    "間である"
    "（反復 {n} 回，乱数シード {seed}）．モデル間の比較には同一の再標本を用いた．"
    "また，ラベルの並べ替え {n} 回による並べ替え検定 {permuted} を行った．",
    "validity": "併せて，シルエット係数 {silhouette}，Caliński-Harabasz 指標 {calinski}，Davies-Bouldin 指標 {davies}，"
    "ならびに k-means によるクラスタリングの V-measure {measure}，調整ランド指数 {rand}，"
    "正規化相互情報量 {nmi} を scikit-learn {version} {library} により算出した．",
    "umap": "文の配置図は UMAP {version} {cite} による射影であり（近傍数 {neighbours}，最小距離 {distance}，"
    "距離 {metric}，乱数シード {seed}），数値の算出には用いていない．",
    "umap sample": "UMAP は，各クラスの文数に比例して抽出した {fitted} 文（乱数シード {seed}）に対して学習し，"
    "残りの文は transform により配置した．",
    "pca": "文の配置図は主成分分析による射影であり，数値の算出には用いていない．",
    "network": "芝山ら {cite} と同様に，文ベクトルを入力とする順伝播型ニューラルネットワーク（隠れ層のユニット数 "
    "{hidden}，"
    "エポック数 {epochs}，バッチサイズ {batch}）により文のクラスを分類した．"
    "重みの初期値を変えて {runs} 回の学習を行った（乱数シード {first} から {last}）．",
    "standardised": "各次元は学習データの平均と分散により標準化した．",
    "split": "各クラスの {share}% をテストデータとし，{split}．",
    "accuracy intervals": "平均正解率の 95% 信頼区間は，1 回の学習のテスト文数に基づく Wilson の区間 {cite} である．"
    "モデル間の差は文ごとに対応をとり，学習間の分散を考慮して比較した．",
    "mask": "芝山ら {cite} に従い，各文の 1 語をマスクし，モデルがその語に与える確率を求めた．"
    "複数のトークンからなる語では，後続のトークンをマスクしたまま左から順に求めた各トークンの確率の積とした．",
    "mask intervals": "平均の信頼区間は語を単位とするブートストラップ t 法 {cite} による 95% 区間（反復 {n} 回，"
    "乱数シード {seed}），差の信頼区間は語を単位とする Student の t による 95% 区間である．"
    "モデル間の比較には，すべてのモデルが処理できた文のみを用いた．",
    "mask percentiles": "平均の信頼区間は，語を復元抽出するブートストラップ {cite} による 95% パーセンタイル区間である"
    "（反復 {n} 回，乱数シード {seed}）．モデル間の比較には，すべてのモデルが処理できた文のみを用い"
    "た．",
    "bertscore": "文対の評価には BERTScore {cite} を用いた．各トークンを，隠れ層 {layer}（0 は埋め込み層）の"
    "文脈化ベクトルのコサイン類似度が最大となる相手文のトークンに対応付け，適合率，再現率，F1 を求めた．"
    "ベースラインによる再スケーリングは行っていない．",
    "rescaled": "あわせて，再スケーリングしたスコア (s − b) / (1 − b) を示す．b は，実行に含まれる文から作った "
    "{n} 組のランダムな文対におけるスコア s の平均（シード {seed}）である．",
    "rescaled by a list": "あわせて，再スケーリングしたスコア (s − b) / (1 − b) を示す．"
    "b はモデルのベースラインである．",
    "words": "対応付けの単位は単語とし，単語間の類似度にはサブワード間の類似度の平均を用いた．",
    "special": "{special}",
    "no special matches": "特殊トークンへの対応付けは行わなかった．",
    "idf none": "トークンの重みはすべて等しくした．",
    "idf references": "トークンは，参照文集合における逆文書頻度（idf）で重みづけた．",
    "idf dictionary": "トークンは，コーパスから求めた逆文書頻度（idf）で重みづけた（{dictionaries}）．",
    "idf of words": "トークンは，それが属する単語の，コーパスから求めた逆文書頻度（idf）で"
    "重みづけた（{dictionaries}）．",
    "no penalty": "ペナルティは課していない．",
    "penalty": "日本語小説の翻訳を対象とした BERTScore の研究 {cite} に従い，適合率と再現率に読みに基づくペナルティを課"
    "した．"
    "すなわち，{criterion}および語彙にないトークンについては，"
    "トークンと対応先の読みの編集距離を長い方の読みの長さで除した値を 1 から引いた値を，"
    "その他のトークンについては 1 を一致係数 M とし，その平均を乗じた．"
    "読みは{scope}について {engine} により付与し，"
    "一方でも完全な読みが得られない場合は双方を表記のまま比較した．"
    "{pairing}．",
    "best reference": "参照文が複数ある文対のスコアは，各参照文に対するスコアの最大値である．",
    "names": "固有名詞，UniDic にない語，助数詞を伴う数（MeCab による）を固有名とし，"
    "相手の文に対応する固有名があるものについては，トークンのコサイン類似度に代えて一致係数 M"
    "（モーラ単位で測った読みの音の距離を長い方の読みの長さで除した値を 1 から引いた値）の 2 乗を用い，"
    "その重みを {weight} 倍とした．数以外の固有名の重みの合計は，文の重みの {share} 以上とした．",
    "merged sounds": "同音の表記（長音，ヴとバ，ヂとジ，ヅとズ）は同一とみなした．",
    "own readings": "独自に与えた読み（{list}）を，他の読みに優先させた．",
    "many own readings": "独自に与えた{n}件の名前の読みの一覧（全体はシグネチャに記載）を，他の読みに優先させた．",
    "share threshold": "低頻度トークンは，idf が辞書中の idf の分位点 {threshold} を超えるものとした．",
    "idf threshold": "低頻度トークンは，idf が {threshold} nat を超えるものとした．",
    "readings": "読みの付与に用いたソフトウェアの版は {versions} である．",
    "grid": "日本語小説の翻訳を対象とした BERTScore の研究 {cite} と同様に，モデル，idf（{idfs}），"
    "ペナルティ（{penalties}）の，可能なすべての組み合わせについて {score} を求めた．",
    "grid without idf": "低頻度トークンの読みによるペナルティには辞書が必要なため，等しい重みとは組み合わせていない．",
    "grid without model": "辞書 {idf} は {models} のトークナイザに対応しないため，これらのモデルでは用いていない．",
    "gold": "各文対の人手評価には，評価者ごとに標準化したスコアの平均を用いた．",
    "correlations": "相関係数は，Pearson の r（95% 信頼区間は Fisher の z 変換 {fisher} による），および "
    "Spearman の ρ と Kendall の τ_b（95% 信頼区間は無限小ジャックナイフ法 {efron}，{cliff}，"
    "20 対未満では正規分布からのシミュレーションによる）を報告する．",
    "correlations, by formula": "相関係数は，Pearson の r（95% 信頼区間は Fisher の z 変換 {fisher} による），"
    "Spearman の ρ（同じく Bonett と Wright {bonett}），"
    "Kendall の τ_b（同じく Fieller ら {fieller}）を報告する．",
    "scores of the data": "{names} のスコアは本ツールで計算したものではなく，データの列から読み込んだ．",
    "lower scores": "{names} は値が小さいほどよい指標であり，符号を反転して用いた．",
    "williams": "最良の設定と他の各設定との差は Williams の検定 {cite}（両側，多重比較の補正なし）で検定した．",
    "surface": "SentBLEU {bleu} と chrF {chrf} は sacreBLEU {sacrebleu} により算出した（{signatures}）．",
    "cosine": "{whom}比較のため，隠れ層 {layer} から得た{pooling}のコサイン類似度も求めた．",
    "published cosine": "{whom}比較のため，モデルとともに公開されている方法（{how}）"
    "により隠れ層 {layer} から得た文ベクトルのコサイン類似度も，"
    "sentence-transformers {cite} と同じ手順で求めた．",
    "decision": "モデルが容認可能な文により高いスコアを与えたとき，その対を正解とした（同点は正解としない）．"
    "上田ら {cite} に従い，容認可能な文のトークン数が容認不可能な文と等しい場合（A = U），"
    "多い場合（A > U），少ない場合（A < U）の正解率も求めた．",
    "causal": "自己回帰言語モデルでは，文のスコアとして各トークンの対数尤度の和を左から順に求めた．",
    "stereotypes": "対のうちステレオタイプの強い文により高いスコアを与えたとき，モデルがステレオタイプを選好したとした"
    "（同点はいずれの選好ともしない）{cite}．",
    "judged": "スコアが容認可能な文と容認不可能な文をどの程度識別するかを，ROC 曲線下面積"
    "（95% 信頼区間は対数オッズ上の DeLong らの方法 {delong}）と，"
    "データの他の部分で最良となるしきい値でのマシューズ相関係数 {cola} により評価した．",
    "conditions": "項目の各文は，SyntaxGym {cite} と同様に領域のサプライザル（ビット）により比較した．式が成り立つ項目の割合"
    "（95% 信頼区間は Wilson の区間）と，その効果（95% 信頼区間は項目を単位とする Student の t による）を報告する．",
    "reading": "語の長さ，位置，既知であれば頻度からなるベースライン"
    "（直前の語の長さとサプライザルを含まない場合と含む場合）を超えて，"
    "サプライザルが読み時間をどれだけ説明するかを報告する．指標は，ベースラインの変数の 2 つずつの積を含む線形回帰による，"
    "訓練に用いない語の対数尤度の変化（95% 信頼区間はテキストを単位とする Student の t による）と，"
    "ベースラインが説明しない分散のうち説明される割合である．",
    "acquisition": "学習ステップ数の対数に対するシグモイド曲線上で，語のサプライザルが偶然の値から"
    "最小値までの中間に達した時点を，"
    "モデルがその語を獲得した時期とし {cite}，子どもの獲得月齢との相関を求めた．",
    "running text": "文書の言語モデル評価として，パープレキシティ，文字あたりビット数，バイトあたりビット数 {cite} を求めた．"
    "いずれも全文書にわたる和の比である．",
    "causal text": "自己回帰言語モデルでは，文書のスコアとして各トークンの対数尤度の和を左から順に求めた．",
    "windows": "{whom}特殊トークンを含めて {window} トークンを超える文書は，{window} トークンの窓を {stride} トークンずつずら"
    "して読み，各トークンを 1 回だけ評価した．",
    "prefix before the text alone": "2 番目以降の窓は，Transformers の文書にある手順と同じく，文書のトークンから始まる．",
    "text intervals": "信頼区間は文書を単位とするブートストラップ t 法 {efron} による 95% 区間（乱数シード {seed}）である．"
    "モデル間の比較には，すべてのモデルが評価できた文書についてバイトあたりビット数の対応のある t 検定を用い，Holm の方法 "
    "{holm} により補正した．",
    "prefix": "{whom}その際，文の前には {tokens} を置いた．",
    "no prefix": "{whom}その際，文の前には何も置かず，先頭のトークンは評価の対象としない．",
    "templates": "自己回帰言語モデルについては，文を {n} 個のテンプレートに入れたスコア {cite}，"
    "すなわちテンプレート中の文の対数確率，または文に関する質問への答えとしての「はい」の対数オッズも求めた．",
    "in-template LP alone": "自己回帰言語モデルについては，文を {n} 個のテンプレートに入れたスコア {cite}，"
    "すなわちテンプレート中の文の対数確率も求めた．",
    "questions alone": "自己回帰言語モデルについては，各文に関する {n} 個の質問への答えとしての"
    "「はい」の対数オッズ {cite} も求めた．",
    "chat template": "質問はトークナイザのチャットテンプレートに入れて与えた．",
    "leading space": "自己回帰言語モデルに与える各文の前には空白を 1 つ置いた．",
    "pll word-l2r": "マスク言語モデルでは疑似対数尤度を用い，各トークンを同じ単語に属する後続のトークンとともにマスクした"
    " {cite}．",
    "words of pll": "単語は{words}とした．",
    "pll original": "マスク言語モデルでは疑似対数尤度を用い，トークンを 1 つずつマスクした {cite}．",
    "mntp": "{whom}マスクしたトークンは，その 1 つ前の位置の出力から予測した {cite}．",
    "decoder": "{whom}エンコーダ・デコーダ型モデルでは，文のスコアとして，"
    "デコーダによる各トークンの対数尤度の和を左から順に求めた．{given}．",
    "decoder after text": "{whom}エンコーダ・デコーダ型モデルでは，文のスコアとして，"
    "デコーダによる各トークンの対数尤度の和を左から順に求めた．エンコーダには {text} を入力した．",
    "decoder of masks": "{whom}エンコーダ・デコーダ型モデルでは疑似対数尤度を用い，"
    "エンコーダの入力でトークンを 1 つずつマスクし，デコーダで予測した．",
    "layers by logit lens": "単語のサプライザルは，ロジットレンズ {cite} により各層でも求めた．すなわち，"
    "その層の隠れ状態にモデルの最終正規化層と出力層を適用した．各層の利得は，"
    "項目を単位とする対応のある t 検定で最終層と比較し，Holm 法 {holm} で補正した．",
    "shared tokens": "両文に共通するトークンのみを対象とする CrowS-Pairs の指標 {cite} も併せて求めた．",
    "score": "スコアには{score}を用いた．",
    "cited score": "スコアには{score} {cite} を用いた．",
    "alpha": "その指数は α = {alpha} とした．",
    "unigrams": "ユニグラム確率は {corpus} から求めた．",
    "subset": "集計の対象は，{subset}のみとした．",
    "subset drawn": "集計の対象は，{subset}のみとした（シード {seed}）．",
    "region": "スコアは{region}のみから求めた．",
    "intervals over clusters": "{column} の値が同じ文対を 1 つのクラスタとみなした {miller}．"
    "クラスタが 5 個以上のとき，"
    "正解率の 95% 信頼区間は Korn と Graubard の区間 {korn} である．"
    "モデル間の比較にはクラスタに基づく対応のある t 検定を用い，"
    "Holm の方法 {holm} により補正した．",
    "share intervals": "割合の 95% 信頼区間は Wilson の区間 {wilson} である．割合は，同点を除いた符号検定により 50% と比較した．"
    "モデル間の比較には McNemar の正確検定 {mcnemar} を用い，Holm の方法 {holm} により補正した．",
    "pair intervals": "正解率の 95% 信頼区間は Wilson の区間 {wilson} である．モデル間の比較には McNemar の正確検定 "
    "{mcnemar} "
    "を用い，Holm の方法 {holm} により補正した．",
}

WORDS: Mapping[str, Mapping[str, str]] = {
    "items": {
        "sentences": "ラベル付き文",
        "masked": "マスク文",
        "pairs": "文対",
        "minimal": "ミニマルペア",
        "stereotypes": "文の対",
        "judged": "判断付きの文",
        "conditions": "条件付きの文",
        "reading": "読み時間付きのテキスト",
        "acquisition": "文脈中の語",
        "texts": "文書",
    },
    "penalty": {"none": "なし", "reading": "読みによる", "names": "固有名を読みで比較"},
    "score": {"f1": "F1", "precision": "適合率", "recall": "再現率"},
}


def listed(items: Sequence[str]) -> str:
    """Items as a list in a sentence.

    >>> listed(["a", "b"])
    'a，b'
    """
    return "，".join(items)
