"""The network: a BERT-type encoder, a CRF over units, a relation head that attends to the sentence for each pair."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.sets import LABELS, RELATIONS, TYPES

SHAPES = 10
ROLES = 5  # before both, in the head, between, in the tail, after both
DISTANCES = 6


class Layer(nn.Module):
    def __init__(self, width: int, inner: int, heads: int, dropout: float, eps: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv, self.ao = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.f1, self.f2 = nn.Linear(width, inner), nn.Linear(inner, width)
        self.aln, self.fln = nn.LayerNorm(width, eps), nn.LayerNorm(width, eps)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        batch, tokens, width = hidden.shape
        q, k, v = self.qkv(hidden).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        drop = self.dropout if self.training else 0.0
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :], dropout_p=drop)
        attended = attended.transpose(1, 2).reshape(batch, tokens, width)
        hidden = self.aln(hidden + F.dropout(self.ao(attended), drop))
        return self.fln(hidden + F.dropout(self.f2(F.gelu(self.f1(hidden))), drop))


class Extractor(nn.Module):
    def __init__(
        self,
        vocabulary: int,
        positions: int,
        *,
        layers: int = 6,
        width: int = 384,
        inner: int = 1536,
        heads: int = 12,
        dropout: float = 0.1,
        eps: float = 1e-12,
        shapes: bool = True,
        crf: bool = True,
    ) -> None:
        super().__init__()
        self.word, self.position = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.shape = nn.Embedding(SHAPES, width) if shapes else None
        if self.shape is not None:
            nn.init.normal_(self.shape.weight, std=0.02)
        self.emb_ln = nn.LayerNorm(width, eps)
        self.layers = nn.ModuleList(Layer(width, inner, heads, dropout, eps) for _ in range(layers))
        self.drop = nn.Dropout(dropout)
        self.labels = nn.Linear(width, len(LABELS))
        self.transitions = nn.Parameter(torch.zeros(len(LABELS), len(LABELS)), requires_grad=crf)
        self.register_buffer("forbidden", forbidden_transitions())
        self.relations = RelationHead(width, dropout)

    def states(self, ids: Tensor, shapes: Tensor, mask: Tensor) -> Tensor:
        positions = torch.arange(ids.shape[1], device=ids.device)
        hidden = self.word(ids) + self.position(positions)[None]
        if self.shape is not None:
            hidden = hidden + self.shape(shapes)
        hidden = self.drop(self.emb_ln(hidden))
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return hidden

    def emissions(self, states: Tensor, firsts: Tensor) -> Tensor:
        """States of each unit's first token -> label scores."""
        units = torch.gather(states, 1, firsts[..., None].expand(-1, -1, states.shape[-1]))
        return self.labels(self.drop(units)).float()

    def log_partition(self, emissions: Tensor, allowed: Tensor, unit_mask: Tensor) -> Tensor:
        """log of the summed weight of all label paths inside `allowed` (batch, units, labels); tree reduction."""
        scores = emissions.masked_fill(~allowed, -1e4)
        move = self.transitions + self.forbidden
        first = scores[:, 0] + self.forbidden_start()
        steps = move[None, None] + scores[:, 1:, None, :]  # (batch, units-1, from, to)
        identity = torch.full_like(move, -1e4).fill_diagonal_(0.0)
        steps = torch.where(unit_mask[:, 1:, None, None], steps, identity)
        while steps.shape[1] > 1:
            if steps.shape[1] % 2:
                steps = torch.cat([steps, identity.expand(steps.shape[0], 1, -1, -1)], 1)
            left, right = steps[:, 0::2], steps[:, 1::2]
            steps = torch.logsumexp(left[..., :, :, None] + right[..., None, :, :], dim=-2)
        if steps.shape[1] == 1:
            first = torch.logsumexp(first[:, :, None] + steps[:, 0], dim=1)
        return torch.logsumexp(first, dim=-1)

    def forbidden_start(self) -> Tensor:
        return self.forbidden[0]  # what may follow O may also begin a sentence


def forbidden_transitions() -> Tensor:
    """I-X follows only B-X and I-X."""
    table = torch.zeros(len(LABELS), len(LABELS))
    for to, name in enumerate(LABELS):
        if name.startswith("I-"):
            kind = name[2:]
            for origin, before in enumerate(LABELS):
                if before[2:] != kind:
                    table[origin, to] = -1e4
    return table


class RelationHead(nn.Module):
    def __init__(self, width: int, dropout: float, inner: int = 384, heads: int = 8) -> None:
        super().__init__()
        self.heads, self.inner = heads, inner
        self.kind = nn.Embedding(len(TYPES) + 1, 64)
        self.distance = nn.Embedding(DISTANCES * 2, 64)
        self.query = nn.Linear(4 * width + 3 * 64, inner)
        self.key, self.value = nn.Linear(width, inner), nn.Linear(width, inner)
        self.role_key = nn.Parameter(torch.randn(ROLES, inner) * 0.05)
        self.role_value = nn.Parameter(torch.randn(ROLES, inner) * 0.05)
        self.out1, self.mid, self.back = (
            nn.Linear(inner, inner),
            nn.Linear(inner, 2 * inner),
            nn.Linear(2 * inner, inner),
        )
        self.ln1, self.ln2 = nn.LayerNorm(inner), nn.LayerNorm(inner)
        self.query2, self.out2, self.ln3 = nn.Linear(inner, inner), nn.Linear(inner, inner), nn.LayerNorm(inner)
        self.drop = nn.Dropout(dropout * 2)
        self.final = nn.Linear(inner, len(RELATIONS))

    def forward(
        self, states: Tensor, mask: Tensor, row: Tensor, spans: Tensor, kinds: Tensor, distance: Tensor, roles: Tensor
    ) -> Tensor:
        """row (pairs,), spans (pairs, 4: head start, head end, tail start, tail end; tokens), roles (pairs, tokens)."""
        own = states[row[:, None], spans]  # (pairs, 4, width)
        features = [own.flatten(1), self.kind(kinds[:, 0]), self.kind(kinds[:, 1]), self.distance(distance)]
        query = self.drop(F.gelu(self.query(torch.cat(features, -1))))
        keys, values = self.key(states), self.value(states)
        query = self.ln1(query + self.drop(self.out1(self._attend(query, keys, values, mask, row, roles))))
        query = self.ln2(query + self.drop(self.back(F.gelu(self.mid(query)))))
        again = self._attend(self.query2(query), keys, values, mask, row, roles)
        query = self.ln3(query + self.drop(self.out2(again)))
        return self.final(self.drop(query)).float()

    def _attend(self, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor, row: Tensor, roles: Tensor) -> Tensor:
        pairs, tokens = roles.shape
        size = self.inner // self.heads
        q = query.view(pairs, self.heads, size)
        k = keys[row].view(pairs, tokens, self.heads, size)
        v = values[row].view(pairs, tokens, self.heads, size)
        by_role = torch.einsum("phs,rhs->phr", q, self.role_key.view(ROLES, self.heads, size))
        scores = torch.einsum("phs,pths->pht", q, k)
        scores = scores + torch.gather(by_role, 2, roles[:, None].expand(-1, self.heads, -1))
        scores = scores.masked_fill(~mask[row][:, None], -1e4) / math.sqrt(size)
        weights = scores.softmax(-1)
        summed = torch.einsum("pht,pths->phs", weights, v)
        onehot = F.one_hot(roles, ROLES).to(weights.dtype)
        share = torch.einsum("pht,ptr->phr", weights, onehot)
        summed = summed + torch.einsum("phr,rhs->phs", share, self.role_value.view(ROLES, self.heads, size))
        return summed.reshape(pairs, self.inner)
